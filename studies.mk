# Studies: each answers one question, takes minutes to hours, and some need gigabytes. `make studies` lists them. The Makefile
# includes this file, so that `make heal` works like every other target.

GUARD := target/debug/countersign-bench guard
SECONDS_EACH ?= 60
SEQUENCES ?= 100000
ACTS ?= 3000
SEED ?= 1
REFUSED ?= 100000
ROUNDS ?= 200
INVITATION_ROUNDS ?= 500
SIDE_BY_SIDE_SECONDS ?= 600
EVENTS ?= 10000000
BACKUPS ?= 50
EXITS ?= 2000
COPIED_USERS ?= 1000000
DESK_USERS ?= 1000000
DESK_EVENTS ?= 10000000
# MCP Inspector and the conformance suite need a newer one than the libraries.
AGENTS_NODE := 22.23.3

# --- client libraries and agents ------------------------------------------------------------------------------------------

.PHONY: test-clients
test-clients: setup-build setup-clients setup-browser ## Sign in with every stock client library (UPDATE_DOCS=1 writes docs/clients and its report)
	@$(say) "Building the server that the clients log in to"
	cargo build --locked -p countersign-app
	$(say) "Logging in with every client library (a minute or two once built)"
	cargo test --locked -p countersign-tests --test clients -- --nocapture

.PHONY: agents
agents: setup-build setup-agents ## Sign in with MCP clients and the MCP conformance suite (UPDATE_DOCS=1 writes docs/mcp.md)
	@$(say) "Building the server that they sign in to"
	cargo build --locked -p countersign-app
	$(say) "Signing in with each client: about five minutes once built"
	PATH="$(CURDIR)/.tools/node-agents:$$PATH" node $(AGENTS)/run.mjs target/debug/countersign $(ONLY)

# --- load, crashes and races ----------------------------------------------------------------------------------------------

# The promise is about what people run, so it is the release. 16,000 connections need as many descriptors, twice.
.PHONY: storm
storm: setup-build ## Sign in while 16,000 connections misbehave in nine ways (ten minutes)
	@ulimit -n $$(ulimit -Hn)
	(( $$(ulimit -n) >= 18000 )) || { echo "18,000 descriptors are needed; the hard limit here is $$(ulimit -n)."; exit 1; }
	$(say) "Building the release and the storm"
	cargo build --release --locked -p countersign-app
	cargo test --release --locked -p countersign-tests --test e2e --no-run
	$(say) "Holding connections: about ten minutes. Leave the machine alone meanwhile"
	COUNTERSIGN_STORM=full cargo test --release --locked -p countersign-tests --test e2e -- --nocapture --test-threads 1 f_05_honest_people

# The release, because a hundred thousand requests take a debug build minutes.
.PHONY: flood
flood: setup-postgres .tools/fail2ban/.unpacked ## Refuse 100,000 requests on each database; fail2ban must find them all (REFUSED=100000)
	@$(say) "Building the release and the flood"
	cargo build --release --locked -p countersign-app
	cargo test --release --locked -p countersign-tests --test e2e --no-run
	$(say) "Sending $(REFUSED) requests that are refused"
	FLOOD=$(REFUSED) cargo test --release --locked -p countersign-tests --test e2e -- --nocapture --test-threads 1 each_refused_request_of_a_flood

.PHONY: invitations
invitations: setup-build setup-postgres ## 64 browsers on two servers want one invitation, again and again, on each database (INVITATION_ROUNDS=500)
	@$(say) "Building the release and the browsers"
	cargo build --release --locked -p countersign-app
	cargo test --release --locked -p countersign-tests --test e2e --no-run
	$(say) "Racing for $(INVITATION_ROUNDS) invitations on each database"
	INVITATION_ROUNDS=$(INVITATION_ROUNDS) cargo test --release --locked -p countersign-tests --test e2e -- --nocapture --test-threads 1 uses_are_exact_when_many_browsers

.PHONY: event-rounds
event-rounds: setup-build setup-postgres ## Kill servers, commands and PostgreSQL, and compare acts with events (ROUNDS=200; half an hour)
	@$(say) "Building the tests and the server"
	cargo build --locked -p countersign-app
	cargo test --locked -p countersign-tests --test e2e --no-run
	$(say) "Killing $(ROUNDS) times on SQLite, on PostgreSQL, and PostgreSQL itself: about half an hour"
	ROUNDS=$(ROUNDS) cargo test --locked -p countersign-tests --test e2e -- --nocapture --test-threads 3 events::crashes

.PHONY: exits
exits: setup-build setup-postgres ## End short commands on PostgreSQL with TLS while all processors are busy (EXITS=2000)
	@cargo build --locked -p countersign-app
	cargo test --locked -p countersign-tests --test e2e --no-run
	$(say) "Running $(EXITS) commands"
	EXITS=$(EXITS) cargo test --locked -p countersign-tests --test e2e -- --nocapture --test-threads 1 exits::

.PHONY: heal
heal: setup-build setup-postgres .tools/patroni.tar ## Replace the leader of three PostgreSQL nodes in four ways, under 64 connections (ten minutes)
	@$(say) "Building the tests and the server"
	cargo build --locked -p countersign-app
	cargo test --locked -p countersign-tests --test e2e --no-run
	$(say) "Switching over, crashing, cutting power and network of the leader: about ten minutes"
	HEAL=full cargo test --locked -p countersign-tests --test e2e -- --nocapture heal::

.PHONY: invariants
invariants: setup-test ## Check the invariants with random requests and acts (SEQUENCES=100000, ACTS=3000, SEED=1)
	@$(say) "Running $(SEQUENCES) random sequences of requests"
	SEQUENCES=$(SEQUENCES) SEED=$(SEED) cargo test --locked -p countersign-http-operators --lib invariants -- --nocapture
	$(say) "Running $(ACTS) random acts on each database, at servers that are killed"
	cargo build --locked -p countersign-app
	ACTS=$(ACTS) SEED=$(SEED) cargo test --locked -p countersign-tests --test e2e histories -- --nocapture

# --- much data, and releases ----------------------------------------------------------------------------------------------

# The release, because a debug build takes minutes for a million events.
.PHONY: event-many
event-many: setup-build setup-postgres ## Seal and verify ten million events on each database (EVENTS=10000000)
	@$(say) "Building the release and the test"
	cargo build --release --locked -p countersign-app
	cargo test --release --locked -p countersign-tests --test e2e --no-run
	$(say) "Sealing and verifying $(EVENTS) events, with 20 GB of scratch space in $${TMPDIR:-/tmp}"
	EVENTS=$(EVENTS) cargo test --release --locked -p countersign-tests --test e2e -- --nocapture --test-threads 1 many_events_are_verified

.PHONY: copy-many
copy-many: setup-build setup-postgres ## Copy a million users from SQLite to PostgreSQL and back (COPIED_USERS=1000000)
	@$(say) "Building the release and the test"
	cargo build --release --locked -p countersign-app
	cargo test --release --locked -p countersign-tests --test e2e --no-run
	$(say) "Copying $(COPIED_USERS) users"
	COPIED_USERS=$(COPIED_USERS) cargo test --release --locked -p countersign-tests --test e2e -- --nocapture saved::a_copy_to

.PHONY: backups
backups: setup-build setup-postgres ## Back up each database under load, restore and compare (BACKUPS=50)
	@$(say) "Building the release and the test"
	cargo build --release --locked -p countersign-app
	cargo test --release --locked -p countersign-tests --test e2e --no-run
	$(say) "Saving $(BACKUPS) times on each database"
	BACKUPS=$(BACKUPS) cargo test --release --locked -p countersign-tests --test e2e -- --nocapture --test-threads 1 saved::

# A release cannot be written again: what is kept of it is what people have.
.PHONY: release-databases
release-databases: setup-build setup-servers ## Keep the databases that this release writes, for later upgrade tests (VERSION=1.0.0)
	@[[ "$(VERSION)" =~ ^[0-9]+\.[0-9]+\.[0-9]+$$ ]] || { echo "Say which: make release-databases VERSION=1.0.0"; exit 1; }
	cargo build --locked -p countersign-app
	WRITE_RELEASE=$(VERSION) cargo test --locked -p countersign-tests --test upgrade -- --nocapture this_build_goes_on_with_the_databases_that_it_wrote
	ls -l tests/upgrade/$(VERSION)

.PHONY: side-by-side
side-by-side: setup-build setup-servers ## Run this release beside the previous one under load (BEFORE=/usr/bin/countersign)
	@[[ -x "$(BEFORE)" ]] || { echo "Say where the program of the release before is: make side-by-side BEFORE=/usr/bin/countersign"; exit 1; }
	$(say) "Building the release and the test"
	cargo build --release --locked -p countersign-app
	cargo test --release --locked -p countersign-tests --test upgrade --no-run
	$(say) "Running both on each database, $(SIDE_BY_SIDE_SECONDS) seconds each"
	BEFORE=$$(realpath $(BEFORE)) SIDE_BY_SIDE_SECONDS=$(SIDE_BY_SIDE_SECONDS) cargo test --release --locked -p countersign-tests --test upgrade -- --nocapture --test-threads 1 side_by_side

# --- speed ----------------------------------------------------------------------------------------------------------------

.PHONY: bench
bench: bench-build ## Measure every step beside a floor and write docs/reports/performance.md (an hour)
	@$(say) "Measuring: about an hour, with 20 GB of scratch space in $${TMPDIR:-/tmp}. Leave the machine alone meanwhile"
	target/release/countersign-bench run --growth 10000000 --docs docs/reports

.PHONY: bench-quick
bench-quick: bench-build ## Measure every step at 64 connections and print the tables (two minutes)
	@$(say) "Measuring: about two minutes"
	target/release/countersign-bench run --quick

.PHONY: bench-crowd
bench-crowd: bench-build ## Measure operators' commands and sign-ins among ten users and among 100,000 (three minutes)
	@$(say) "Measuring: about three minutes"
	target/release/countersign-bench crowd

.PHONY: bench-events
bench-events: bench-build ## Measure what events cost, sealing included (fifteen minutes)
	@$(say) "Measuring: about fifteen minutes"
	target/release/countersign-bench events

.PHONY: bench-shortening
bench-shortening: bench-build ## Shorten a client's lifetimes while a million of its tokens are out (five minutes)
	@$(say) "Measuring: about five minutes"
	target/release/countersign-bench shortening

.PHONY: bench-desk
bench-desk: setup-postgres setup-build ## Measure the desk's lists among a million users (DESK_USERS, DESK_EVENTS; half an hour)
	@$(say) "Measuring: about half an hour, with 30 GB of scratch space in $${TMPDIR:-/tmp}"
	cargo run --release --locked -p countersign-bench --example desk -- --users $(DESK_USERS) --events $(DESK_EVENTS)

.PHONY: guard
guard: setup-valgrind test-build ## Compare the instructions of each step with bench/instructions.toml (two minutes)
	@$(say) "Counting the instructions of each step (about two minutes)"
	$(GUARD)

.PHONY: guard-record
guard-record: setup-valgrind test-build ## Write the instructions of each step to bench/instructions.toml
	@$(say) "Counting the instructions of each step (about two minutes)"
	$(GUARD) --record

# Only link-time optimization is missing, which takes most of a release's build.
.PHONY: guard-release
guard-release: setup-valgrind test-build ## The same in the release, for bench/history.md (RECORD=1 writes bench/release.toml; ten minutes)
	@$(say) "Building the release without link-time optimization, then counting"
	cargo build --profile guard --locked -p countersign-app
	$(GUARD) --server target/guard/countersign --figures bench/release.toml $(if $(RECORD),--record)

# --- fuzzing --------------------------------------------------------------------------------------------------------------

# Without a sanitizer the stable toolchain can do it, and in safe code a panic or a broken promise is what there is to find.
.PHONY: fuzz
fuzz: fuzz-build ## Fuzz every parser and decoder (SECONDS_EACH=60, TARGETS="address ...")
	@$(say) "Fuzzing: $(SECONDS_EACH) seconds for each target"
	fuzz/run.sh $(SECONDS_EACH) $(TARGETS)

# Of the seeds from the vectors, what is in git and what the last runs found, the fewest small inputs that reach everything.
.PHONY: fuzz-corpus
fuzz-corpus: fuzz-build ## Merge what fuzzing found into fuzz/corpus, which is in git
	@rm -rf target/fuzz/work/seeds target/fuzz/work/merged
	python3 fuzz/seeds.py target/fuzz/work/seeds
	fuzz/merge.sh $(TARGETS)

.PHONY: fuzz-lock
fuzz-lock: ## Give the fuzz targets the versions of the project's Cargo.lock
	cp Cargo.lock fuzz/Cargo.lock
	cargo metadata --format-version 1 --manifest-path fuzz/Cargo.toml > /dev/null

# --- packages and descriptions --------------------------------------------------------------------------------------------

.PHONY: package-check
package-check: package setup-package-check ## Install, upgrade and purge the packages in an empty Debian (ten minutes; needs root)
	@$(say) "Judging the packages (asks the package server for a Debian, once)"
	$(SUDO) SITE=$(CURDIR)/target/site packaging/check/check.sh $(PACKAGES)

.PHONY: openapi
openapi: setup-build ## Write the description of the HTTP interface to target/openapi.json
	cargo run --locked --quiet -p countersign-app -- openapi > target/openapi.json
	echo "target/openapi.json: $$(jq '.paths | length' target/openapi.json) paths"

# --- parts ----------------------------------------------------------------------------------------------------------------

.PHONY: bench-build
bench-build: setup-postgres release-build

# One after the other: built together, the server would get features of libraries that only the benchmark asks for.
.PHONY: release-build
release-build: setup-build
	@$(say) "Building server and benchmark for release (the first time takes several minutes)"
	cargo build --release --locked -p countersign-app
	cargo build --release --locked -p countersign-bench

.PHONY: fuzz-build
fuzz-build: setup-fuzz fuzz-lock-check .tools/cargo-fuzz
	@cargo fetch --locked --quiet --manifest-path fuzz/Cargo.toml
	$(say) "Building the fuzz targets (the first time takes minutes)"
	cargo fuzz build --sanitizer none --target-dir target/fuzz

.PHONY: .tools/cargo-fuzz
.tools/cargo-fuzz:
	@command -v cargo-fuzz >/dev/null && exit 0
	$(say) "Installing cargo-fuzz into ./.tools (it is compiled here: a minute, once)"
	cargo install cargo-fuzz --locked --root .tools

.PHONY: setup-valgrind
setup-valgrind:
	@missing=()
	command -v valgrind >/dev/null || missing+=(valgrind)
	command -v openssl >/dev/null || missing+=(openssl)
	$(install_missing)

.PHONY: setup-package-check
setup-package-check: .tools/packaging/.installed
	@missing=()
	command -v mmdebstrap >/dev/null || missing+=(mmdebstrap)
	command -v systemd-nspawn >/dev/null || missing+=(systemd-container)
	command -v lintian >/dev/null || missing+=(lintian)
	$(install_missing)

.tools/packaging/.installed: packaging/check/requirements.txt
	@$(say) "Installing what judges the packages: Helm, the schema of CycloneDX (about 120 MB)"
	missing=()
	python3 -c 'import venv, ensurepip' 2>/dev/null || missing+=(python3 python3-venv)
	$(install_missing)
	rm -rf .tools/packaging
	python3 -m venv .tools/packaging
	.tools/packaging/bin/pip install --quiet --disable-pip-version-check -r packaging/check/requirements.txt
	touch $@

# The programs of `make agents`; no other target needs them. Their MCP server is the one of the client libraries.
.PHONY: setup-agents
setup-agents: $(AGENTS)/node_modules/.installed $(AGENTS)/.venv/.installed $(CLIENTS)/node_modules/.installed .tools/node-agents/node

.tools/node-agents/node: | setup-services
	@platform=node-linux-$$(node -p process.arch)
	$(say) "Installing Node $(AGENTS_NODE) into ./.tools for MCP Inspector and the conformance suite"
	npm install --prefix .tools/node-agents --no-audit --no-fund --ignore-scripts --no-save "$$platform@$(AGENTS_NODE)"
	ln -sfn "node_modules/$$platform/bin/node" $@

$(AGENTS)/node_modules/.installed: $(AGENTS)/package.json $(AGENTS)/package-lock.json | setup-services
	@$(say) "Installing MCP clients: Codex, Gemini CLI, MCP Inspector, mcp-remote, opencode (about 1.4 GB)"
	# Not `npm ci`: it insists on opencode's programs for all other systems, which the lock file cannot have.
	npm install --prefix $(AGENTS) --no-save --no-audit --no-fund --ignore-scripts
	touch $@

$(AGENTS)/.venv/.installed: $(AGENTS)/requirements.txt | setup-services
	@$(say) "Installing FastMCP (about 150 MB)"
	rm -rf $(AGENTS)/.venv
	python3 -m venv $(AGENTS)/.venv
	$(AGENTS)/.venv/bin/pip install --quiet --disable-pip-version-check -r $(AGENTS)/requirements.txt
	touch $@
