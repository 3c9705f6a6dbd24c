# `make demo` and `make test` are all a newcomer needs; each sets up what it lacks.

CARGO := scripts/cargo
# One profile (Cargo.toml, [profile.dev]) serves tests, demo and fidelity, so that everything is
# compiled once.
RUN := $(CARGO) run --locked
DEMO := compare 6400kbit/9ms 200kbit/300ms --both-ways --kind mbb,bbm --disconnect 1s \
	--flows 1,2,4 --schemes sack,etcp-v0,etcp-v1
# More arguments for the program that a target runs: make fidelity ARGS=--subset
ARGS :=

# The laboratory makes namespaces and loads programs into the kernel.
ROOT := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
SEGUE := $${CARGO_TARGET_DIR:-target}/debug/segue

.PHONY: help demo test lab liar bench fidelity lint man completions install clean

help:
	@echo 'make demo         handoffs between 6400kbit/9ms and 200kbit/300ms, compared in a table'
	@echo 'make test         all tests'
	@echo 'make lab          real senders on this machine over links that change, two minutes; as root'
	@echo 'make liar         what a receiver gains that lies to the kernel sender, two minutes and a half; as root'
	@echo 'make bench        packets per second, ours beside those of ns-2'
	@echo 'make fidelity     regular TCP beside the results of ns-2, scenario by scenario'
	@echo 'make lint         formatting, and clippy with warnings denied'
	@echo 'make install      the program segue, into the bin folder of cargo'
	@echo 'make man          manual pages, into out/man'
	@echo 'make completions  completions of bash, zsh and fish, into out/completions'
	@echo 'make clean        removes what was built'

demo:
	@scripts/setup rust cc bpf
	$(RUN) -p segue -- $(DEMO) $(ARGS)

test:
	@scripts/setup rust cc gcc bpf
	@scripts/setup --optional tshark tcptrace chromium lab
	$(CARGO) test --workspace --locked $(ARGS)

lab:
	@scripts/setup rust cc bpf lab
	$(CARGO) build --locked -p segue
	$(ROOT) $(SEGUE) lab run examples/lab-bbm-10s.toml --jobs 16 $(ARGS)
	$(ROOT) $(SEGUE) lab run examples/lab-mbb.toml --jobs 16 $(ARGS)

liar:
	@scripts/setup rust cc bpf lab
	$(CARGO) test --locked -p segue-live --test liar -- --ignored

bench:
	@scripts/setup rust cc bpf ns2
	$(RUN) --release -p segue-fidelity --bin speed -- $(ARGS)

fidelity:
	@scripts/setup rust cc bpf
	$(RUN) -p segue-fidelity --bin fidelity -- $(ARGS)

lint:
	@scripts/setup rust cc bpf
	@scripts/setup lint
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

install:
	@scripts/setup rust cc bpf
	$(CARGO) install --locked --path crates/segue

man:
	@scripts/setup rust cc bpf
	$(RUN) -p segue -- man --out out/man

completions:
	@scripts/setup rust cc bpf
	@mkdir -p out/completions
	$(RUN) -p segue -- completions bash > out/completions/segue.bash
	$(RUN) -p segue -- completions zsh > out/completions/_segue
	$(RUN) -p segue -- completions fish > out/completions/segue.fish

clean:
	rm -rf out
	$(CARGO) clean
