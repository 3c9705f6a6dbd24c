# `make demo` and `make test` are all a newcomer needs. Nothing but `make setup` installs anything on the machine: the others
# print the line to type.

CARGO := scripts/cargo
# One profile (Cargo.toml, [profile.dev]) serves tests, demo and fidelity, so that everything is
# compiled once.
RUN := $(CARGO) run --locked
# Everything that the programs can do, with its libraries as the tests build them (crates/workspace-hack).
BUILD := $(CARGO) build --locked --workspace --bin segue --bin segue-agent
# Needs of everything, of the programs beside it, and of tests alone.
NEED := rust cc
NEED_ALL := $(NEED) bpf
NEED_TESTS := gcc lab python tshark tcptrace chromium axe tmux
NEED_RELEASE := book deb wheel
DEMO := compare 6400kbit/9ms 200kbit/300ms --both-ways --kind mbb,bbm --disconnect 1s \
	--flows 1,2,4 --schemes sack,etcp-v0,etcp-v1
# More arguments for the program that a target runs: make fidelity ARGS=--subset
ARGS :=

# The laboratory makes namespaces and loads programs into the kernel.
ROOT := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
SEGUE := $(or $(CARGO_TARGET_DIR),target)/debug/segue

# Where `make install` puts things: $(DESTDIR)$(PREFIX), and the configuration in $(DESTDIR)$(SYSCONFDIR). PROGRAM: the
# one to install, in place of one that is built; segue-agent lies beside it.
PREFIX := /usr/local
SYSCONFDIR := /etc
DESTDIR :=
PROGRAM :=
RELEASE := $${CARGO_TARGET_DIR:-target}/release/segue

.PHONY: help setup demo build test fuzz measure python-test lab liar agent-speed agent-soak bench fidelity linux-fidelity linux-reference packetdrill book lint style additions man completions install uninstall static deb release units clean

help:
	@echo 'make setup        installs the system packages that building and testing need'
	@echo 'make demo         handoffs between 6400kbit/9ms and 200kbit/300ms, compared in a table'
	@echo 'make build        the programs, with everything that they can do'
	@echo 'make test         all tests that can run here; it names those that cannot'
	@echo 'make fuzz         all tests with other random cases than ever before, and ten times as many'
	@echo 'make measure      the tests that measure times and rates, on a machine that does nothing else'
	@echo 'make python-test  the tests of the Python package alone'
	@echo 'make lab          real senders on this machine over links that change, two minutes; as root'
	@echo 'make liar         the gain of a receiver that lies to the kernel sender, ten minutes; as root'
	@echo 'make agent-speed  how soon the mobile agent notifies peers of a handoff; half a minute, as root'
	@echo 'make agent-soak   a hundred handoffs with a thousand flows, twice, every octet compared; ten minutes, as root'
	@echo 'make bench        packets per second, ours beside those of ns-2'
	@echo 'make fidelity     regular TCP beside the results of ns-2 and of the Linux kernel, scenario by scenario'
	@echo 'make linux-fidelity  the second part of it alone'
	@echo 'make linux-reference ARGS=...  the kernel itself in a handoff, packet by packet beside the stack linux-6.12'
	@echo 'make packetdrill  our scripts of packetdrill against the kernel of this machine; as root'
	@echo 'make book         the documentation as a book, into out/book/html; its links are checked'
	@echo 'make lint         formatting, the prose of pages and comments, and clippy with warnings denied'
	@echo 'make additions    adds a toy control, loss model, queue and scheme to a copy, and compiles it'
	@echo 'make install      the programs, their pages, completions, units and configuration, below PREFIX=/usr/local'
	@echo 'make uninstall    removes them; a configuration that was changed stays'
	@echo 'make static       the programs without shared libraries, into out/static'
	@echo 'make deb          a Debian package, into out'
	@echo 'make release      programs, package, container image, wheel, book, bill of materials and checksums, into out/release'
	@echo 'make units        tries that package and its services under a systemd of their own; as root'
	@echo 'make man          manual pages, into out/man'
	@echo 'make completions  completions of bash, zsh and fish, into out/completions'
	@echo 'make clean        removes what was built'

setup:
	scripts/setup make $(NEED_ALL) lint $(NEED_TESTS)

demo:
	@scripts/setup --check $(NEED)
	$(CARGO) build --locked -p segue --no-default-features
	$(strip $(SEGUE) $(DEMO) $(ARGS))

build:
	@scripts/setup --check $(NEED_ALL)
	$(BUILD)

test:
	@scripts/setup --check $(NEED_ALL)
	@scripts/setup --optional $(NEED_TESTS)
	@scripts/test $(ARGS)

fuzz:
	@scripts/setup --check $(NEED_ALL)
	@scripts/setup --optional $(NEED_TESTS)
	@scripts/test --fuzz $(ARGS)

measure:
	@scripts/setup --check $(NEED_ALL)
	@scripts/test --measure $(ARGS)

python-test:
	@scripts/setup --check $(NEED) python
	scripts/python-test $(ARGS)

lab:
	@scripts/setup --check $(NEED_ALL) lab
	$(BUILD)
	$(ROOT) $(SEGUE) lab run examples/lab-bbm-10s.toml --jobs 16 $(ARGS)
	$(ROOT) $(SEGUE) lab run examples/lab-mbb.toml --jobs 16 $(ARGS)

liar:
	@scripts/setup --check $(NEED_ALL) lab
	$(CARGO) test --locked -p segue-lab --test liar -- --ignored

bench:
	@scripts/setup --check $(NEED_ALL) ns2
	$(RUN) --release -p segue-fidelity --bin speed -- $(ARGS)

fidelity:
	@scripts/setup --check $(NEED_ALL)
	$(RUN) -p segue-fidelity --bin fidelity -- $(ARGS)

linux-fidelity:
	@scripts/setup --check $(NEED_ALL)
	$(RUN) -p segue-fidelity --bin fidelity -- --only linux $(ARGS)

linux-reference:
	@scripts/linux-reference $(ARGS)

packetdrill:
	@$(ROOT) env PACKETDRILL="$${PACKETDRILL:-packetdrill}" scripts/packetdrill $(ARGS)

book:
	@scripts/setup --check $(NEED_ALL) book
	$(BUILD)
	scripts/book

lint: style
	@scripts/setup --check $(NEED_ALL)
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(CARGO) clippy -p segue --no-default-features --locked -- -D warnings

# All of it but clippy.
style:
	@scripts/setup --check lint
	# rustfmt does not see modules that a macro declares.
	$(CARGO) fmt --all --check -- crates/tcp/src/congestion/*.rs
	scripts/same-features
	scripts/architecture --check
	scripts/includes
	scripts/prose

# The additions of CONTRIBUTING, tried out.
additions:
	@scripts/setup --check $(NEED_ALL)
	scripts/additions

agent-speed:
	@scripts/setup --check $(NEED_ALL) lab
	$(CARGO) test --locked -p segue-lab --test mobile -- --ignored --nocapture notices_leave

agent-soak:
	@scripts/setup --check $(NEED_ALL) lab
	$(CARGO) test --locked -p segue-agent --test soak -- --ignored --nocapture a_hundred_handoffs

install:
ifeq ($(PROGRAM),)
	@scripts/setup --check $(NEED_ALL)
	$(CARGO) build --release --locked -p segue -p segue-agent
	packaging/install "$(RELEASE)" "$(DESTDIR)" "$(PREFIX)" "$(SYSCONFDIR)"
else
	packaging/install "$(PROGRAM)" "$(DESTDIR)" "$(PREFIX)" "$(SYSCONFDIR)"
endif

uninstall:
	packaging/uninstall "$(DESTDIR)" "$(PREFIX)" "$(SYSCONFDIR)"

# For routers and other small hosts: glibc, libelf and zlib in the program. Only the programs themselves are compiled and
# linked for that; all libraries are those of a wheel.
static:
	@scripts/setup --check $(NEED_ALL)
	@mkdir -p out/static
	for program in segue segue-agent; do \
		LIBBPF_SYS_LIBRARY_PATH=$$(pkg-config --variable=libdir libelf) $(CARGO) rustc --profile wheel --locked \
			-p $$program --bin $$program --features static -- -C target-feature=+crt-static && \
		strip -o out/static/$$program $${CARGO_TARGET_DIR:-target}/wheel/$$program || exit; \
	done

# PROGRAM as above: the package of out/static/segue needs no libraries.
deb:
	@scripts/setup --check $(NEED_ALL) deb
	@rm -rf out/deb out/segue_*.deb
ifeq ($(PROGRAM),)
	$(CARGO) build --release --locked -p segue -p segue-agent
	packaging/install "$(RELEASE)" out/deb /usr /etc
else
	packaging/install "$(PROGRAM)" out/deb /usr /etc
endif
	packaging/deb out/deb out

# The static programs serve archive, package, image and the figures of the book alike.
release:
	@scripts/setup --check $(NEED_ALL) $(NEED_RELEASE)
	$(MAKE) static
	$(MAKE) deb PROGRAM=out/static/segue
	SEGUE=out/static/segue scripts/book
	packaging/release
	packaging/try-release

units: deb
	$(ROOT) packaging/try-units out/segue_*.deb

man:
	@scripts/setup --check $(NEED_ALL)
	$(RUN) -p segue -- man --out out/man

completions:
	@scripts/setup --check $(NEED_ALL)
	@mkdir -p out/completions
	$(RUN) -p segue -- completions bash > out/completions/segue.bash
	$(RUN) -p segue -- completions zsh > out/completions/_segue
	$(RUN) -p segue -- completions fish > out/completions/segue.fish
	$(RUN) -p segue -- completions bash segue-agent > out/completions/segue-agent.bash
	$(RUN) -p segue -- completions zsh segue-agent > out/completions/_segue-agent
	$(RUN) -p segue -- completions fish segue-agent > out/completions/segue-agent.fish

clean:
	rm -rf out
	$(CARGO) clean
