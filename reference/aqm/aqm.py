#!/usr/bin/env python3
"""CoDel, FQ-CoDel, PIE and RED beside the simulator's, written from their sources alone. Those are RFC 8289 (section
5), RFC 8290 (section 4), and RFC 8033 (sections 4 and 5; what Linux's sch_pie.c does where it leaves that open). For
RED they are Floyd and Jacobson (1993, section 4; gentle, 2000) and the rules of ns-2's red.cc. Random numbers are those
of PCG (O'Neill 2014, MCG of 128 bits, XSL-RR).

One link of 10 Mbit/s for 60 s. Prints what crates/netsim/tests/aqm.rs expects:

    reference/aqm/aqm.py

Packets are lists [number, arrival, bytes, flow]; times are ns.
"""

import math
from collections import deque

TARGET, INTERVAL, MAXPACKET = 5_000_000, 100_000_000, 1500
QUANTUM = 1514
CODEL_LIMIT, FQ_CODEL_LIMIT, DROP_BATCH = 1000, 10_240, 64  # Linux: sch_codel.c; RFC 8290, 5.2; sch_fq_codel.c
END = 60_000_000_000
RATE = 10_000_000


class CodelQueue:
    """RFC 8289, 5.3 to 5.6; `outside` counts with the bytes of this queue. The limit is as in sch_codel.c."""

    def __init__(self, limit=None):
        self.packets, self.bytes, self.limit = deque(), 0, limit
        self.first_above_time = self.drop_next = self.count = self.lastcount = 0
        self.dropping = False

    def enqueue(self, packet, drop=None):
        if self.limit is not None and len(self.packets) >= self.limit:
            drop(packet)
            return
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

    def __init__(self, limit=None):
        self.flows, self.deficit, self.limit = {}, {}, limit
        self.new, self.old = deque(), deque()

    def overflow(self, drop):
        """RFC 8290, 4.1.3, as fq_codel_drop() of sch_fq_codel.c has it. The queue with the most bytes, the first of
        several, loses a batch from its head, until half of its bytes are gone. CoDel's count grows with it."""
        fat = self.flows[max(sorted(self.flows), key=lambda flow: self.flows[flow].bytes)]
        threshold, length, i = fat.bytes >> 1, 0, 0
        while True:
            packet = fat.packets.popleft()
            fat.bytes -= packet[2]
            length += packet[2]
            drop(packet)
            i += 1
            if not (i < DROP_BATCH and length < threshold):
                break
        fat.count += i

    def enqueue(self, packet, drop=None):
        flow = packet[3]
        self.flows.setdefault(flow, CodelQueue()).enqueue(packet)
        if flow not in self.new and flow not in self.old:
            self.new.append(flow)
            self.deficit[flow] = QUANTUM
        if self.limit is not None and sum(len(queue.packets) for queue in self.flows.values()) > self.limit:
            self.overflow(drop)

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


class Random:
    """The simulator's numbers: uniform in (0, 1], seeded as rand_core seeds PCG."""

    def __init__(self, seed, stream):
        state = seed ^ (stream * 0x9E3779B97F4A7C15 % 2**64)
        words = 0
        for index in range(4):
            state = (state * 6364136223846793005 + 11634580027462260723) % 2**64
            shifted, turn = ((state >> 18) ^ state) >> 27 & 0xFFFFFFFF, state >> 59
            words |= ((shifted >> turn | shifted << (32 - turn)) & 0xFFFFFFFF) << 32 * index
        self.state = words | 1

    def uniform(self):
        self.state = self.state * 0x2360ED051FC65DA44385DF649FCCF645 % 2**128
        turn, folded = self.state >> 122, (self.state >> 64 ^ self.state) % 2**64
        number = (folded >> turn | folded << (64 - turn)) % 2**64
        return ((number >> 11) + 1) / 2**53


class Fifo:
    def __init__(self):
        self.packets, self.bytes = deque(), 0

    def push(self, packet):
        self.packets.append(packet)
        self.bytes += packet[2]

    def pop(self):
        packet = self.packets.popleft()
        self.bytes -= packet[2]
        return packet


class Pie:
    """RFC 8033: 4.1 drops at enqueue, 4.2 the probability, 4.3 time stamps, 4.4 bursts, 5.4 derandomisation, 5.5 the
    cap of 2 %. The safeguard looks at the last sample, and beyond 250 ms 2 % are added, as in Linux."""

    REF, UPDATE, BURST = 15_000_000, 15_000_000, 150_000_000

    def __init__(self, limit):
        self.fifo, self.limit, self.random = Fifo(), limit, Random(1, 0)
        self.tick = self.UPDATE
        self.delay = self.old = 0
        self.reset()

    def reset(self):
        self.prob, self.accu, self.burst = 0.0, 0.0, self.BURST

    def ticks(self, now):
        while self.tick <= now:
            self.calculate_drop_prob()
            self.tick += self.UPDATE

    def calculate_drop_prob(self):
        p = 0.125 * (self.delay / 1e9 - 0.015) + 1.25 * (self.delay / 1e9 - self.old / 1e9)
        for below, parts in ((1e-6, 2048), (1e-5, 512), (1e-4, 128), (1e-3, 32), (1e-2, 8), (1e-1, 2)):
            if self.prob < below:
                p /= parts
                break
        else:
            p = min(p, 0.02)
        if self.delay > 250_000_000:
            p += 0.02
        self.prob = min(max(self.prob + p, 0.0), 1.0)
        if self.delay == 0 and self.old == 0 and self.fifo.bytes == 0:
            self.prob -= self.prob / 64
        self.burst = max(0, self.burst - self.UPDATE)
        if self.prob == 0 and self.delay < self.REF // 2 and self.old < self.REF // 2:
            self.reset()
        self.old = self.delay

    def drop_early(self):
        if self.burst > 0 or self.delay < self.REF // 2 and self.prob < 0.2 or self.fifo.bytes < 2 * 1500:
            return False
        self.accu = self.accu + self.prob if self.prob else 0.0
        if self.accu < 0.85:
            return False
        return self.accu >= 8.5 or self.random.uniform() <= self.prob

    def enqueue(self, packet, drop):
        self.ticks(packet[1])
        if len(self.fifo.packets) >= self.limit or self.drop_early():
            self.accu = 0.0
            drop(packet)
        else:
            self.fifo.push(packet)

    def dequeue(self, now, _outside, _drop):
        self.ticks(now)
        packet = self.fifo.pop() if self.fifo.packets else None
        self.delay = now - packet[1] if packet and self.fifo.packets else 0
        return packet


class Red:
    """Floyd and Jacobson, section 4: the mean at each arrival, and of those between the thresholds each with
    pb / (1 - count pb). Gentle: from max_p at the upper threshold to 1 at twice as many. ns-2's red.cc: nothing is
    dropped early that finds fewer than two packets, nor the first that could be. Idle time counts in whole packets, and
    begins when the server asks in vain."""

    MIN, MAX, MAX_P, W, SLOT = 5.0, 15.0, 0.1, 0.002, 1_200_000

    def __init__(self, limit):
        self.fifo, self.limit, self.random = Fifo(), limit, Random(1, 0)
        self.avg, self.count, self.old, self.q_time = 0.0, 0, False, 0

    def enqueue(self, packet, drop):
        waiting = len(self.fifo.packets)
        if self.q_time is not None:
            self.avg *= (1 - self.W) ** ((packet[1] - self.q_time) // self.SLOT)
            self.q_time = None
        self.avg += self.W * (waiting - self.avg)
        self.count += 1
        dropped = False
        if self.avg < self.MIN or waiting < 2:
            self.old = False
        elif self.avg >= 2 * self.MAX:
            dropped = True
        elif not self.old:
            self.old, self.count = True, 1
        else:
            if self.avg < self.MAX:
                pb = self.MAX_P * (self.avg - self.MIN) / (self.MAX - self.MIN)
            else:
                pb = min(1.0, self.MAX_P + (1 - self.MAX_P) * (self.avg - self.MAX) / self.MAX)
            pa = min(1.0, pb / (1 - self.count * pb)) if self.count * pb < 1 else 1.0
            dropped = self.random.uniform() <= pa
        if dropped or waiting >= self.limit:
            self.count = 0
            drop(packet)
        else:
            self.fifo.push(packet)

    def dequeue(self, now, _outside, _drop):
        if not self.fifo.packets:
            self.q_time = now
            return None
        return self.fifo.pop()


def run(queue, arrivals):
    """Drops (time, number) and departures (time, number) of a server that serves one packet after the other. An arrival
    comes before a departure in the same instant, as in the test's loop."""
    drops, departures = [], []
    free, pending = 0, deque(arrivals)
    now = 0
    idle = True
    while pending or not idle:
        if not idle and (not pending or free < pending[0][1]):
            now = free
            idle = True
        else:
            packet = pending.popleft()
            now = packet[1]
            queue.enqueue(packet, lambda dropped: drops.append((now, dropped[0])))
        if idle:
            packet = queue.dequeue(now, 0, lambda dropped: drops.append((now, dropped[0])))
            if packet:
                free = now + packet[2] * 8 * 1_000_000_000 // RATE
                departures.append((free, packet[0]))
                idle = False
    return drops, departures


def arrivals(flows):
    """Packets of (period in ns, bytes, from, until) each, none at one time with another."""
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
    digest("pie", run(Pie(100_000), greedy))
    digest("red", run(Red(60), greedy))
    mixed = arrivals([(1_100_000, 1500, 0, END), (7_000_000, 300, 0, END), (2_500_000, 900, 10 * SECOND, 40 * SECOND)])
    digest("fq_codel", run(FqCodel(), mixed))
    # 24, 48 and at last 12 Mbit/s: more than CoDel takes away, so that the limits decide.
    flood = arrivals([(500_000, 1500, 0, 30 * SECOND), (500_000, 1500, 5 * SECOND, 30 * SECOND), (20_000_000, 300, 0, END),
                      (1_000_000, 1500, 40 * SECOND, END)])
    digest("fq_codel, full", run(FqCodel(FQ_CODEL_LIMIT), flood))
    for packet in flood:
        packet[3] = 0
    digest("codel, full", run(CodelQueue(CODEL_LIMIT), flood))
