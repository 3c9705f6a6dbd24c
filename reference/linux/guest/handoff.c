/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * handoff.c - bulk flows from cn to mn across a handoff, and what happens at cn, instant by instant.
 *
 *     handoff CONTROL FLOWS mbb|bbm OUTAGE_S AT_S >log
 *
 * One line per instant at which a packet leaves or reaches cn: us since the instant before, then words for flow f:
 *
 *     f>N     sends packet N for the first time; packet 1 is the first with data
 *     f*N     sends it again
 *     f<N,A-B hears an ACK of all before N, with SACK blocks
 *     fwC/S   cwnd and ssthresh after the instant, if they have changed (-: infinite)
 *
 * Time zero is connect() of flow 0; it is a multiple of 16.384 s on the clock, and so a multiple of 4096 jiffies.
 * The kernel runs in virtual time. Work takes none, but for 1 us wherever a new program touches a
 * page for the first time. That is 28 us until ip is done. So the programs that break and complete
 * the handoff are started before, and act within 2 us.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MSS 1448
#define PACKETS 100 /* of the transfer time */
#define MAX_FLOWS 8
#define PORT 5001
#define FIRST_PORT 40000
#define WRITE 32768
#define S 1000000000LL
#define MS 1000000LL
#define MORE (102 * S / 10) /* goes on for so long after completion, and until the transfers are complete */
#define PATIENCE (150 * S)
#define INFINITE 0x7fffffff
#define SAME 400 /* ns */

struct flow {
	int fd;
	uint32_t iss, high, una;
	uint32_t goal; /* from completion on */
	uint32_t cwnd, ssthresh; /* as logged last */
	uint32_t cwnd_now, ssthresh_now;
	bool known;
	pid_t writer;
};

static struct flow flows[MAX_FLOWS];
static int count;
static int64_t zero;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* ------------------------------------------------------------------------------------ time */

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * S + t.tv_nsec - zero;
}

static void wait_until(int64_t at)
{
	struct timespec t = { (at + zero) / S, (at + zero) % S };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

/* From the clock of captured packets to that of now(). */
static int64_t wall_ahead(void)
{
	struct timespec wall, mono;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_REALTIME, &wall);
	return (wall.tv_sec - mono.tv_sec) * S + wall.tv_nsec - mono.tv_nsec;
}

/* ------------------------------------------------------------------------------------- log */

static int64_t instant = -1, before; /* of the present line, ns; of the one before, us */

/* Ends the line of the present instant with the windows that have changed. */
static void end_line(void)
{
	if (instant < 0)
		return;
	for (int f = 0; f < count; f++) {
		struct flow *flow = &flows[f];

		if (!flow->known || (flow->cwnd == flow->cwnd_now && flow->ssthresh == flow->ssthresh_now))
			continue;
		flow->cwnd = flow->cwnd_now;
		flow->ssthresh = flow->ssthresh_now;
		printf(" %dw%u/", f, flow->cwnd);
		if (flow->ssthresh == INFINITE)
			printf("-");
		else
			printf("%u", flow->ssthresh);
	}
	printf("\n");
	instant = -1;
}

static void begin_line(int64_t at)
{
	int64_t us = (at + 500) / 1000;

	/* Virtual time moves by 1 ns whenever somebody reads the clock. */
	if (instant >= 0 && at - instant < SAME)
		return;
	end_line();
	printf("%lld", (long long)(us - before));
	before = us;
	instant = at;
}

/* Windows as they are after what has been logged. */
static void look(void)
{
	for (int f = 0; f < count; f++) {
		struct tcp_info info;
		socklen_t length = sizeof info;

		if (!getsockopt(flows[f].fd, IPPROTO_TCP, TCP_INFO, &info, &length)) {
			flows[f].cwnd_now = info.tcpi_snd_cwnd;
			flows[f].ssthresh_now = info.tcpi_snd_ssthresh;
		}
	}
}

static uint32_t big(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, 4);
	return ntohl(value);
}

/* Number of the packet that begins at `seq`. */
static uint32_t packet_at(const struct flow *flow, uint32_t seq)
{
	return (seq - flow->iss - 1) / MSS + 1;
}

static void log_ack(int f, const uint8_t *tcp, int header)
{
	struct flow *flow = &flows[f];
	uint32_t ack = big(tcp + 8);

	if ((int32_t)(ack - flow->una) > 0)
		flow->una = ack;
	printf(" %d<%u", f, packet_at(flow, ack));
	for (int at = 20; at < header && tcp[at];) {
		int length = tcp[at] == 1 ? 1 : tcp[at + 1];

		for (int block = at + 2; tcp[at] == 5 && block < at + length; block += 8) {
			uint32_t first = packet_at(flow, big(tcp + block));
			uint32_t last = packet_at(flow, big(tcp + block + 4)) - 1;

			if (first == last)
				printf(",%u", first);
			else
				printf(",%u-%u", first, last);
		}
		at += length;
	}
}

/* A packet of cn's device. */
static void see(int64_t at, bool leaves, const uint8_t *ip)
{
	int header = (ip[0] & 15) * 4;
	const uint8_t *tcp = ip + header;
	int options = (tcp[12] >> 4) * 4;
	int payload = (ip[2] << 8 | ip[3]) - header - options;
	int port = leaves ? tcp[0] << 8 | tcp[1] : tcp[2] << 8 | tcp[3];
	int f = port - FIRST_PORT;
	uint32_t seq = big(tcp + 4);
	struct flow *flow;

	if (ip[9] != IPPROTO_TCP || f < 0 || f >= count)
		return;
	flow = &flows[f];
	if (tcp[13] & 2) {
		if (leaves) {
			flow->iss = seq;
			flow->high = flow->una = seq + 1;
		}
		return;
	}
	if (!leaves) {
		begin_line(at);
		log_ack(f, tcp, options);
	} else if (payload > 0) {
		bool again = (int32_t)(seq - flow->high) < 0;

		begin_line(at);
		printf(" %d%c%u", f, again ? '*' : '>', packet_at(flow, seq));
		if (!again)
			flow->high = seq + payload;
		flow->known = true;
	}
}

/* --------------------------------------------------------------------------------- capture */

#define FRAME 256
#define FRAMES 65536
static uint8_t *ring;
static uint32_t next_frame;
static int capture;
static int64_t ahead;

static void start_capture(const char *device)
{
	struct tpacket_req request = { 4096, FRAMES / 16, FRAME, FRAMES };
	struct sockaddr_ll address = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	int version = TPACKET_V2;

	capture = socket(AF_PACKET, SOCK_RAW, 0);
	if (capture < 0 || setsockopt(capture, SOL_PACKET, PACKET_VERSION, &version, sizeof version) ||
	    setsockopt(capture, SOL_PACKET, PACKET_RX_RING, &request, sizeof request))
		die("capture");
	ring = mmap(NULL, (size_t)FRAME * FRAMES, PROT_READ | PROT_WRITE, MAP_SHARED, capture, 0);
	if (ring == MAP_FAILED)
		die("capture");
	madvise(ring, (size_t)FRAME * FRAMES, MADV_DONTFORK);
	address.sll_ifindex = if_nametoindex(device);
	if (bind(capture, (void *)&address, sizeof address))
		die(device);
}

/* Logs what the device has seen. */
static void drain(void)
{
	for (;;) {
		struct tpacket2_hdr *frame = (void *)(ring + (size_t)next_frame * FRAME);
		struct sockaddr_ll *from = (void *)((uint8_t *)frame + TPACKET_ALIGN(sizeof *frame));

		if (!(*(volatile uint32_t *)&frame->tp_status & TP_STATUS_USER))
			return;
		if (from->sll_protocol == htons(ETH_P_IP))
			see(frame->tp_sec * S + frame->tp_nsec - ahead - zero,
			    from->sll_pkttype == PACKET_OUTGOING, (uint8_t *)frame + frame->tp_net);
		*(volatile uint32_t *)&frame->tp_status = TP_STATUS_KERNEL;
		next_frame = (next_frame + 1) % FRAMES;
	}
}

/* Logs until `at`. */
static void follow(int64_t at)
{
	for (;;) {
		int64_t left = at - now();
		struct timespec wait = { left / S, left % S };
		struct pollfd wanted = { capture, POLLIN, 0 };

		if (left <= 0)
			return;
		if (ppoll(&wanted, 1, &wait, NULL) > 0) {
			drain();
			look();
		}
	}
}

/* ----------------------------------------------------------------------------------- hosts */

static void enter(const char *host)
{
	char path[64];
	int fd;

	snprintf(path, sizeof path, "/run/netns/%s", host);
	fd = open(path, O_RDONLY);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die(host);
	close(fd);
}

static const struct sockaddr *address(const char *host, int port)
{
	static struct sockaddr_in address;

	address.sin_family = AF_INET;
	address.sin_port = htons(port);
	address.sin_addr.s_addr = inet_addr(host);
	return (void *)&address;
}

/* mn reads whatever comes: one call takes it as it arrives, without a copy. */
static void receive(void)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(listener, address("10.9.9.9", PORT), sizeof(struct sockaddr_in)) || listen(listener, 64))
		die("listen");
	for (;;) {
		int fd = accept(listener, NULL, NULL);

		if (fd >= 0 && !fork()) {
			while (recv(fd, NULL, 64 << 20, MSG_TRUNC | MSG_WAITALL) > 0)
				;
			_exit(0);
		}
		close(fd);
	}
}

/* A flow's application: writes for ever. */
static void send_for_ever(int f)
{
	static char bytes[WRITE];

	wait_until(f * MS);
	if (connect(flows[f].fd, address("10.9.9.9", PORT), sizeof(struct sockaddr_in)))
		die("connect");
	while (write(flows[f].fd, bytes, sizeof bytes) > 0)
		;
	_exit(0);
}

static void priority(int policy, int level)
{
	struct sched_param param = { .sched_priority = level };

	sched_setscheduler(0, policy, &param);
}

/* ip or tc in a host, which waits for its command. */
struct tool {
	const char *start, *command;
	FILE *in;
};

/* The old chain goes dead: nothing that comes out of it is taken, at either end. A batch of tc may look at the line after
 * a filter before it sends it, so there is one. */
static struct tool break_it[] = {
	{ "/sbin/ip netns exec r /sbin/tc -batch - >/dev/null",
	  "filter add dev r1 ingress prio 1 matchall action drop\nqdisc show dev lo\n", NULL },
	{ "/sbin/ip netns exec mn /sbin/tc -batch - >/dev/null",
	  "filter add dev m1 ingress prio 1 matchall action drop\nqdisc show dev lo\n", NULL },
	{ NULL, NULL, NULL },
};

/* The new chain is the way, both directions. */
static struct tool complete_it[] = {
	{ "/sbin/ip -n r -batch -", "route replace 10.9.9.9 via 10.1.6.2\n", NULL },
	{ "/sbin/ip -n mn -batch -", "route replace default via 10.1.8.1 src 10.9.9.9\n", NULL },
	{ NULL, NULL, NULL },
};

static void prepare(struct tool *tool)
{
	for (; tool->start; tool++)
		if (!(tool->in = popen(tool->start, "w")))
			die(tool->start);
}

static void act(struct tool *tool)
{
	for (; tool->start; tool++)
		if (fputs(tool->command, tool->in) < 0 || fflush(tool->in))
			die(tool->command);
}

/* Has it done what it was to do? */
static void finish(struct tool *tool)
{
	for (; tool->start; tool++)
		if (pclose(tool->in))
			die(tool->command);
}

static bool all_done(void)
{
	for (int f = 0; f < count; f++)
		if ((int32_t)(flows[f].una - flows[f].goal) < 0)
			return false;
	return true;
}

int main(int argc, char **argv)
{
	const int64_t period = 16384 * MS;
	int64_t at, completion;
	pid_t receiver;
	bool breaks;

	if (argc != 6)
		return 2;
	count = atoi(argv[2]);
	breaks = !strcmp(argv[3], "bbm");
	at = (int64_t)(atof(argv[5]) * 1e3 + 0.5) * MS;
	completion = breaks ? at + (int64_t)(atof(argv[4]) * 1e3 + 0.5) * MS : at;

	enter("mn");
	receiver = fork();
	if (!receiver)
		receive();
	prepare(break_it);
	prepare(complete_it);
	enter("cn");
	start_capture("c0");
	priority(SCHED_FIFO, 10);
	zero = ((now() + 4 * S) / period + 1) * period;
	ahead = wall_ahead();
	for (int f = 0; f < count; f++) {
		flows[f].fd = socket(AF_INET, SOCK_STREAM, 0);
		if (setsockopt(flows[f].fd, IPPROTO_TCP, TCP_CONGESTION, argv[1], strlen(argv[1])))
			die(argv[1]);
		if (bind(flows[f].fd, address("10.1.1.1", FIRST_PORT + f), sizeof(struct sockaddr_in)))
			die("bind");
		flows[f].writer = fork();
		if (!flows[f].writer) {
			priority(SCHED_OTHER, 0);
			send_for_ever(f);
		}
	}
	if (breaks) {
		follow(at);
		act(break_it);
	}
	follow(completion);
	drain();
	look();
	act(complete_it);
	for (int f = 0; f < count; f++)
		flows[f].goal = flows[f].high + PACKETS * MSS;
	for (at = completion + MORE; follow(at), !all_done() && at < completion + PATIENCE;)
		at += S;
	end_line();
	for (int f = 0; f < count; f++)
		kill(flows[f].writer, SIGKILL);
	kill(receiver, SIGKILL);
	finish(break_it);
	finish(complete_it);
	return 0;
}
