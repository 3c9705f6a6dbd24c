#!/usr/bin/env python3
"""CoDel and FQ-CoDel beside the simulator's, written from RFC 8289 (section 5) and RFC 8290 (section 4) alone.

One link of 10 Mbit/s for 60 s. Prints what crates/netsim/tests/aqm.rs expects:

    reference/aqm/aqm.py

Packets are lists [number, arrival, bytes, flow]; times are ns.
"""

import math
from collections import deque

TARGET, INTERVAL, MAXPACKET = 5_000_000, 100_000_000, 1500
QUANTUM = 1514
END = 60_000_000_000
RATE = 10_000_000


class CodelQueue:
    """RFC 8289, 5.3 to 5.6; `outside` counts with the bytes of this queue."""

    def __init__(self):
        self.packets, self.bytes = deque(), 0
        self.first_above_time = self.drop_next = self.count = self.lastcount = 0
        self.dropping = False

    def enqueue(self, packet):
        self.packets.append(packet)
        self.bytes += packet[2]

    def dodequeue(self, now, outside):
        if not self.packets:
            self.first_above_time = 0
            return None, False
        packet = self.packets.popleft()
        self.bytes -= packet[2]
        sojourn_time = now - packet[1]
        if sojourn_time < TARGET or self.bytes + outside <= MAXPACKET:
            self.first_above_time = 0
        elif self.first_above_time == 0:
            self.first_above_time = now + INTERVAL
        elif now >= self.first_above_time:
            return packet, True
        return packet, False

    def control_law(self, t):
        return t + int(INTERVAL / math.sqrt(self.count))

    def dequeue(self, now, outside, drop):
        packet, ok_to_drop = self.dodequeue(now, outside)
        if self.dropping:
            if not ok_to_drop:
                self.dropping = False
            while now >= self.drop_next and self.dropping:
                drop(packet)
                self.count += 1
                packet, ok_to_drop = self.dodequeue(now, outside)
                if not ok_to_drop:
                    self.dropping = False
                else:
                    self.drop_next = self.control_law(self.drop_next)
        elif ok_to_drop:
            drop(packet)
            packet, ok_to_drop = self.dodequeue(now, outside)
            self.dropping = True
            delta = self.count - self.lastcount
            self.count = delta if delta > 1 and now - self.drop_next < 16 * INTERVAL else 1
            self.drop_next = self.control_law(now)
            self.lastcount = self.count
        return packet


class FqCodel:
    """RFC 8290, 4.1 and 4.2, a queue for each flow; backlog is that of all of them, as in Linux."""

    def __init__(self):
        self.flows, self.deficit = {}, {}
        self.new, self.old = deque(), deque()

    def enqueue(self, packet):
        flow = packet[3]
        self.flows.setdefault(flow, CodelQueue()).enqueue(packet)
        if flow not in self.new and flow not in self.old:
            self.new.append(flow)
            self.deficit[flow] = QUANTUM

    def dequeue(self, now, _outside, drop):
        while self.new or self.old:
            among = self.new or self.old
            flow = among[0]
            if self.deficit[flow] <= 0:
                self.deficit[flow] += QUANTUM
                among.popleft()
                self.old.append(flow)
                continue
            queue = self.flows[flow]
            outside = sum(other.bytes for other in self.flows.values()) - queue.bytes
            packet = queue.dequeue(now, outside, drop)
            if packet:
                self.deficit[flow] -= packet[2]
                return packet
            among.popleft()
            if among is self.new and self.old:
                self.old.append(flow)
        return None


def run(queue, arrivals):
    """Drops (time, number) and departures (time, number) of a server that serves one packet after the other."""
    drops, departures = [], []
    free, pending = 0, deque(arrivals)
    now = 0
    idle = True
    while pending or not idle:
        if not idle and (not pending or free <= pending[0][1]):
            now = free
            idle = True
        else:
            packet = pending.popleft()
            now = packet[1]
            queue.enqueue(packet)
        if idle:
            packet = queue.dequeue(now, 0, lambda dropped: drops.append((now, dropped[0])))
            if packet:
                free = now + packet[2] * 8 * 1_000_000_000 // RATE
                departures.append((free, packet[0]))
                idle = False
    return drops, departures


def arrivals(flows):
    """Packets of (period in ns, bytes, from, until) each, none at one time with another or with a departure."""
    packets = []
    for flow, (period, size, first, last) in enumerate(flows):
        for k, time in enumerate(range(first, last, period)):
            packets.append([0, time + (k * 7919) % 997 + 1000 * flow + 1, size, flow])
    packets.sort(key=lambda packet: packet[1])
    for number, packet in enumerate(packets):
        packet[0] = number
    return packets


def digest(name, result):
    drops, departures = result
    numbers = sum((index + 1) * number for index, (_, number) in enumerate(departures)) % 2**64
    print(f"{name}: {len(drops)} drops, sum of times {sum(t for t, _ in drops)}, of numbers {sum(n for _, n in drops)};",
          f"departures: {len(departures)}, last {departures[-1][0]}, weighed numbers {numbers}")
    print("   first drops, ms:", [round(t / 1e6, 1) for t, _ in drops[:12]])


SECOND = 1_000_000_000
# 12 Mbit/s, then half of that, then 12 Mbit/s again: several drop states, one soon after another.
GREEDY = [(1_000_000, 1500, 0, 20 * SECOND), (2_000_000, 1500, 20 * SECOND, 35 * SECOND),
          (1_000_000, 1500, 35 * SECOND, 60 * SECOND)]

if __name__ == "__main__":
    greedy = arrivals(GREEDY)
    for packet in greedy:
        packet[3] = 0
    digest("codel", run(CodelQueue(), greedy))
    mixed = arrivals([(1_100_000, 1500, 0, END), (7_000_000, 300, 0, END), (2_500_000, 900, 10 * SECOND, 40 * SECOND)])
    digest("fq_codel", run(FqCodel(), mixed))
