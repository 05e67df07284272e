# The targets for every day; `make` lists them. Studies, which take long or need much, are in studies.mk; `make studies` lists
# them. `make run` and `make test` set up what they need on a fresh Debian or Ubuntu with a Rust toolchain, as root or with sudo,
# and do nothing twice.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

export PATH := $(CURDIR)/.tools/bin:$(HOME)/.cargo/bin:$(PATH)
export DEBIAN_FRONTEND := noninteractive

PORT ?= 8080
BASE := http://localhost:$(PORT)
PEERS := tests/peers
CLIENTS := tests/clients
APPS := $(CLIENTS)/apps
ORACLE := $(CLIENTS)/oracle
AGENTS := $(CLIENTS)/agents
# Three tests for each processor: most of them wait for clocks and disks. At most two drive browsers (.config/nextest.toml).
NEXTEST := cargo nextest run --locked --workspace --tests --test-threads $$(( $$(nproc) * 3 )) --hide-progress-bar
PACKAGES := target/package
# Packages whose tests need PostgreSQL, a mail server or a server of ours.
NEED_SERVICES := tests bench adapters-postgres adapters-smtp test-postgres
OLDEST_NODE := 20
NODE := 20.20.2
# Chromium without its windows, menus and extensions: half of the processor time for the same pages.
CHROMIUM := /usr/bin/chromium-headless-shell
OLDEST_PYTHON := 3.11

say = printf '\033[1m==> %s\033[0m\n'
list = grep -hE '^[a-z0-9-]+:.*\#\# ' $(1) | awk -F ':.*\#\# ' '{ printf "  %-18s %s\n", $$1, $$2 }'
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)

# Both are pieces of recipes: the first collects the packages that are missing, the second installs what was collected.
define missing_for_build
missing=()
command -v cc >/dev/null || missing+=(gcc libc6-dev)
command -v pkg-config >/dev/null || missing+=(pkg-config)
command -v curl >/dev/null || missing+=(curl)
command -v jq >/dev/null || missing+=(jq)
pkg-config --exists openssl 2>/dev/null || missing+=(libssl-dev)
endef

define install_missing
if (( $${#missing[@]} )); then
	command -v apt-get >/dev/null || { echo "Please install: $${missing[*]} (there is no apt-get here)"; exit 1; }
	[[ -z "$(SUDO)" ]] || command -v sudo >/dev/null || { echo "Please install as root: $${missing[*]}"; exit 1; }
	$(say) "Installing $${missing[*]} (asks the package server; a minute or two)"
	$(SUDO) apt-get update -qq
	$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$${missing[@]}"
fi
endef

# --- what people call ------------------------------------------------------------------------------------------------------

.PHONY: help
help:
	@echo "Countersign. Two commands do everything on a fresh machine: make run, make test."
	echo
	$(call list,$(firstword $(MAKEFILE_LIST)))

.PHONY: studies
studies: ## List the studies: load, crashes, millions of rows, client libraries, benchmarks, fuzzing
	@echo "Each study answers one question, and takes minutes to hours. docs/testing.md says more."
	echo
	$(call list,studies.mk)

.PHONY: setup
setup: setup-build setup-test ## Install what building and testing need (the other targets do it by themselves)

.PHONY: run
run: setup-build ## Build and start the server, with its data in ./data (PORT=8080)
	@$(say) "Building for a trial (about three minutes on two processors the first time, seconds afterwards)"
	cargo build --profile trial --locked -p countersign-app
	if (exec 3<>/dev/tcp/127.0.0.1/$(PORT)) 2>/dev/null; then
		echo "Port $(PORT) is in use. Choose another one: make run PORT=8090"
		exit 1
	fi
	mkdir -p data
	export COUNTERSIGN_BIND=127.0.0.1:$(PORT) COUNTERSIGN_PUBLIC_URL=$(BASE) COUNTERSIGN_DATABASE_URL=sqlite://data/countersign.db
	target/trial/countersign serve & server=$$!
	# Ctrl-C reaches the server too; it ends in peace by one signal, and at once by two.
	trap 'wait $$server; exit 0' INT
	trap 'kill -TERM $$server; wait $$server; exit 0' TERM
	for try in {1..150}; do
		curl -fsS -o /dev/null $(BASE)/health/ready 2>/dev/null && break
		kill -0 $$server 2>/dev/null || { echo "The server did not start; its last lines above say why."; exit 1; }
		(( try < 150 )) || { echo "The server is not ready after 30 seconds."; kill -TERM $$server; exit 1; }
		sleep 0.2
	done
	echo
	$(say) "Countersign is running. Its data are in ./data"
	echo "    Sign in, with your wallet or a throw-away one:  $(BASE)/playground"
	echo "    Read and try the HTTP interface:                $(BASE)/docs"
	echo "    Stop the server:                                Ctrl-C"
	echo
	wait $$server

.PHONY: test
test: setup-build setup-test test-build ## Run every test: on both databases, in a browser, and with third-party code
	@$(say) "Running the examples in the documentation"
	cargo test --locked --workspace --doc --quiet
	$(say) "Running all tests (the browser and schemathesis take minutes)"
	if command -v cargo-nextest >/dev/null; then
		$(NEXTEST) --no-fail-fast
	else
		cargo test --locked --workspace --tests --no-fail-fast
	fi

# What needs Node, Python or a browser is named by the profile `e2e` in .config/nextest.toml, and here for those without nextest.
.PHONY: test-e2e
test-e2e: setup-build setup-servers test-build ## Run the tests that need no browser, no Node and no Python, on both databases
	@$(say) "Running the tests on SQLite and PostgreSQL"
	if command -v cargo-nextest >/dev/null; then
		$(NEXTEST) --profile e2e
	else
		cargo test --locked --workspace --exclude countersign-tests --exclude countersign-adapters-smtp --tests --no-fail-fast
		cargo test --locked -p countersign-tests --test e2e --test openid --test upgrade --test architecture --no-fail-fast -- --skip mail:: --skip fail2ban:: --skip heal:: --skip litestream:: --skip f_10_f_11_
	fi
	$(say) "Left out: browsers, client libraries, applications, schemathesis, a real mail server, fail2ban, Patroni, Litestream, examples in documentation. make test runs them"

# Other packages are selected here than elsewhere, so libraries may be built once more, with fewer features.
.PHONY: test-fast
test-fast: setup-build ## Run the tests that need no service and no browser: a minute once built
	@if command -v cargo-nextest >/dev/null; then
		$(NEXTEST) $(addprefix --exclude countersign-,$(NEED_SERVICES))
	else
		cargo test --locked --workspace $(addprefix --exclude countersign-,$(NEED_SERVICES)) --tests
	fi
	$(say) "Left out: PostgreSQL, mail, and everything that starts the server. make test-e2e runs most of it, make test all"

# The folders' names are in the program otherwise, and the same commit would be another program elsewhere. Relocations are
# packed, which Debian 12's loader can read, and functions with the same code are one: a few megabytes less.
.PHONY: package
package: setup-package docs ## Build the Debian package, the image, the chart and the bill of materials into target/package
	@$(say) "Building the release for packages (the first time takes several minutes)"
	export SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct)
	cargo="$${CARGO_HOME:-$$HOME/.cargo}"
	RUSTFLAGS="--remap-path-prefix=$(CURDIR)=countersign --remap-path-prefix=$$cargo=cargo -Clink-arg=-Wl,-z,pack-relative-relocs -Clink-arg=-Wl,--icf=all" \
		cargo build --release --locked -p countersign-app --target-dir target/package-build
	SITE=$(CURDIR)/target/site packaging/package.sh target/package-build/release/countersign $(PACKAGES)

.PHONY: check
check: fmt-check lint doc deny ## Check format, lints, documentation, licenses and advisories

# --- parts ------------------------------------------------------------------------------------------------------------------

.PHONY: build
build: setup-build
	cargo build --locked -p countersign-app

# The server that the tests start is built with them: built by itself, it would have other features and be built twice.
# `--all-targets` would build the suites of countersign-conformance once more, although they have no unit tests.
.PHONY: test-build
test-build: setup-build
	@$(say) "Building the tests and the server that they start (the first time takes several minutes)"
	cargo test --locked --workspace --tests --no-run

.PHONY: setup-package
setup-package: setup-build
	@missing=()
	command -v dpkg-shlibdeps >/dev/null || missing+=(dpkg-dev)
	command -v strip >/dev/null || missing+=(binutils)
	command -v buildah >/dev/null || missing+=(buildah)
	command -v python3 >/dev/null || missing+=(python3)
	$(install_missing)

# mdBook reads docs/SUMMARY.md. It runs for seconds, so it is not worth the minutes that optimizing it takes.
.PHONY: docs
docs: setup-build .tools/mdbook ## Build the documentation as a site with search, into target/site
	@command -v python3 >/dev/null || { echo "Please install python3"; exit 1; }
	mdbook build packaging/site
	echo "Open target/site/index.html"

.PHONY: fmt
fmt: ## Format the code
	cargo fmt --all
	cargo fmt --manifest-path fuzz/Cargo.toml
	cargo fmt --manifest-path $(CLIENTS)/Cargo.toml

.PHONY: fmt-check
fmt-check:
	@$(say) "Checking the format"
	cargo fmt --all -- --check
	cargo fmt --manifest-path fuzz/Cargo.toml -- --check
	cargo fmt --manifest-path $(CLIENTS)/Cargo.toml -- --check

.PHONY: lint
lint: setup-fuzz fuzz-lock-check build-libraries
	@$(say) "Linting (the first time takes minutes)"
	cargo clippy --locked --workspace --lib --bins --tests --examples -- -D warnings
	cargo clippy --locked --manifest-path fuzz/Cargo.toml --target-dir target --all-targets -- -D warnings

# With examples, what only tests use counts as used: so libraries have the features that the lint has read them with.
.PHONY: doc
doc: setup-build
	@$(say) "Building the documentation"
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --lib --bin countersign --examples

# The database of advisories comes from the network. When it cannot be fetched, that is said aloud and the denied version
# ranges in deny.toml remain; when it can, its verdict counts.
.PHONY: deny
deny: .tools/cargo-deny
	@$(say) "Checking licences, sources and denied crates"
	cargo deny --locked --log-level error check licenses bans sources
	$(say) "Checking advisories (fetches their database)"
	log=$$(mktemp)
	trap 'rm -f $$log' EXIT
	verdict=0
	cargo deny --locked --log-level error check advisories 2> $$log || verdict=$$?
	if (( verdict == 0 )); then
		cat $$log
	elif grep -q 'failed to fetch advisory database' $$log; then
		echo "!!!"
		echo "!!! ADVISORIES NOT CHECKED: the database cannot be reached from here"
		echo "!!! Only the version ranges that deny.toml denies were looked at, above."
		echo "!!!"
	else
		cat $$log
		exit $$verdict
	fi

# What is fuzzed must be what is shipped: the fuzzer's own lock file may name more packages than the project's, not others.
.PHONY: fuzz-lock-check
fuzz-lock-check:
	@packages='/^name = /{name=$$3} /^version = /{print name, $$3}'
	own='^"(arbitrary|countersign-fuzz|jobserver|libfuzzer-sys)" '
	others=$$(comm -23 <(awk "$$packages" fuzz/Cargo.lock | grep -vE "$$own" | sort) <(awk "$$packages" Cargo.lock | sort))
	[[ -z "$$others" ]] || { echo "fuzz/Cargo.lock differs from Cargo.lock; make fuzz-lock mends it:"; echo "$$others"; exit 1; }

.PHONY: migration
migration: ## Start a migration for both databases (name=add_something)
	@[[ "$(name)" =~ ^[a-z][a-z0-9_]*$$ ]] || { echo "Say which: make migration name=add_something (small letters, digits, _)"; exit 1; }
	at=$$(date -u +%Y-%m-%d-%H%M%S)
	# The new one is the last one, whatever date the last one has.
	newest=$$(ls migrations/sqlite | tail -n 1 | cut -d_ -f1)
	[[ "$$at" > "$$newest" ]] || at=$$(echo "$$newest" | cut -d- -f1-3)-$$(printf '%06d' $$(( 10#$$(echo "$$newest" | cut -d- -f4) + 1 )))
	for database in sqlite postgres; do
		folder=migrations/$$database/$${at}_$(name)
		mkdir -p $$folder
		for way in up down; do echo "-- $(name): $$way" > $$folder/$$way.sql; done
		echo "$$folder/{up,down}.sql"
	done

.PHONY: clean
clean: ## Remove everything that was built and installed here, except ./data
	cargo clean
	rm -rf .tools $(PEERS)/node_modules $(PEERS)/.venv $(CLIENTS)/node_modules $(CLIENTS)/.venv
	rm -rf $(APPS)/node_modules $(APPS)/.venv $(ORACLE)/node_modules $(AGENTS)/node_modules $(AGENTS)/.venv

# --- set-up: each step looks first and does nothing when it is done ----------------------------------------------------------

.PHONY: setup-build
setup-build:
	@command -v cargo >/dev/null || { echo "A Rust toolchain is needed: see rustup.rs"; exit 1; }
	$(missing_for_build)
	$(install_missing)

# The fuzzer's engine is C++.
.PHONY: setup-fuzz
setup-fuzz: setup-build
	@missing=()
	command -v c++ >/dev/null || missing+=(g++)
	$(install_missing)

.PHONY: setup-test
setup-test: setup-services setup-package .tools/fail2ban/.unpacked .tools/patroni.tar $(PEERS)/node_modules/.installed $(PEERS)/.venv/.installed setup-browser setup-clients

# Servers that the packages start on their own are stopped: the tests start theirs, in a folder that goes away.
.PHONY: setup-postgres
setup-postgres:
	@missing=()
	compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null || missing+=(postgresql)
	$(install_missing)
	if (( $${#missing[@]} )); then
		$(SUDO) service postgresql stop >/dev/null 2>&1 || true
	fi

# Programs that tests of the server itself need: another clock, and a pooler in front of PostgreSQL.
.PHONY: setup-servers
setup-servers: setup-postgres
	@missing=()
	command -v faketime >/dev/null || missing+=(faketime)
	[[ -x /usr/sbin/pgbouncer ]] || command -v pgbouncer >/dev/null || missing+=(pgbouncer)
	command -v systemd-analyze >/dev/null || missing+=(systemd)
	$(install_missing)
	if [[ " $${missing[*]:-} " == *" pgbouncer "* ]]; then
		$(SUDO) service pgbouncer stop >/dev/null 2>&1 || true
	fi

.PHONY: setup-services
setup-services: setup-servers
	@missing=()
	command -v node >/dev/null || missing+=(nodejs)
	command -v npm >/dev/null || missing+=(npm)
	command -v openssl >/dev/null || missing+=(openssl)
	python3 -c 'import venv, ensurepip' 2>/dev/null || missing+=(python3 python3-venv)
	[[ -x $(CHROMIUM) ]] || grep -qs '^ID=ubuntu' /etc/os-release || missing+=(chromium-headless-shell)
	$(install_missing)
	if (( $$(node -p 'process.versions.node.split(".")[0]') < $(OLDEST_NODE) )); then
		$(say) "Installing Node $(NODE) into ./.tools: the system's is $$(node --version), and client libraries need $(OLDEST_NODE)"
		platform=node-linux-$$(node -p process.arch)
		npm install --prefix .tools/node --no-audit --no-fund --ignore-scripts --no-save "$$platform@$(NODE)"
		mkdir -p .tools/bin
		ln -sfn "../node/node_modules/$$platform/bin/node" .tools/bin/node
	fi
	python3 -c 'import sys; sys.exit(sys.version_info < tuple(map(int, "$(OLDEST_PYTHON)".split("."))))' \
		|| { echo "Python $(OLDEST_PYTHON) or newer is needed; this is $$(python3 --version)."; exit 1; }

$(PEERS)/node_modules/.installed: $(PEERS)/package.json $(PEERS)/package-lock.json | setup-services
	@$(say) "Installing the judges written in JavaScript: wallet libraries, anvil, playwright and others (about 190 MB)"
	npm ci --prefix $(PEERS) --no-audit --no-fund --ignore-scripts
	touch $@

# Ubuntu has no chromium package that works without snap; there, playwright brings its own.
.PHONY: setup-browser
setup-browser: $(PEERS)/node_modules/.installed
	@[[ -x $(CHROMIUM) ]] && exit 0
	cd $(PEERS)
	node -e 'process.exit(require("node:fs").existsSync(require("playwright-core").chromium.executablePath()) ? 0 : 1)' && exit 0
	$(say) "Installing a browser (about 170 MB)"
	node node_modules/playwright-core/cli.js install --with-deps chromium

$(PEERS)/.venv/.installed: $(PEERS)/requirements.txt | setup-services
	@$(say) "Installing the judges written in Python: eth-account, siwe, btclib, aiosmtpd, schemathesis, Vector's language, Litestream (about 235 MB)"
	rm -rf $(PEERS)/.venv
	python3 -m venv $(PEERS)/.venv
	$(PEERS)/.venv/bin/pip install --quiet --disable-pip-version-check -r $(PEERS)/requirements.txt
	touch $@

# Unpacked and not installed, so that no service starts and no jail of this machine changes. It needs Python only.
.tools/fail2ban/.unpacked: | setup-services
	@$(say) "Unpacking fail2ban, which reads the log (asks the package server; half a megabyte)"
	command -v apt-get >/dev/null || { echo "Please unpack Debian's package fail2ban into .tools/fail2ban (there is no apt-get here)"; exit 1; }
	rm -rf .tools/fail2ban
	mkdir -p .tools/fail2ban
	cd .tools/fail2ban
	apt-get download -qq fail2ban || { $(SUDO) apt-get update -qq; apt-get download -qq fail2ban; }
	dpkg-deb -x fail2ban_*.deb .
	touch .unpacked

# Unpacked and not installed, so that none of their services starts, with whatever they need and this machine does not have.
# An archive, because the user `postgres`, who runs them, may not be allowed to look into this folder.
.tools/patroni.tar: | setup-services
	@$(say) "Unpacking Patroni, etcd and HAProxy (asks the package server; 12 MB)"
	command -v apt-get >/dev/null || { echo "Please put Debian's packages patroni, python3-etcd, etcd-server and haproxy, unpacked, into .tools/patroni.tar (there is no apt-get here)"; exit 1; }
	scratch=$$(mktemp -d)
	trap 'rm -rf $$scratch' EXIT
	chmod 755 $$scratch
	mkdir -p $$scratch/packages/partial $$scratch/root .tools
	download() {
		$(SUDO) apt-get install -y -qq --download-only --reinstall --no-install-recommends -o Dir::Cache::archives=$$scratch/packages \
			patroni python3-etcd etcd-server haproxy
	}
	download || { $(SUDO) apt-get update -qq; download; }
	for package in $$scratch/packages/*.deb; do dpkg-deb -x "$$package" $$scratch/root; done
	tar -C $$scratch/root -cf $@.partial .
	mv $@.partial $@

.PHONY: setup-clients
setup-clients: setup-libraries setup-apache $(APPS)/.venv/.installed $(APPS)/node_modules/.installed $(ORACLE)/node_modules/.installed

# Without the packages' server that would start by itself: the tests start their own.
.PHONY: setup-apache
setup-apache:
	@missing=()
	[[ -x /usr/sbin/apache2 ]] || missing+=(apache2-bin)
	[[ -e /usr/lib/apache2/modules/mod_auth_openidc.so ]] || missing+=(libapache2-mod-auth-openidc)
	$(install_missing)

$(APPS)/.venv/.installed: $(APPS)/requirements.txt | setup-services
	@$(say) "Installing the applications written in Python: JupyterHub, Streamlit, Synapse (about 850 MB)"
	rm -rf $(APPS)/.venv
	python3 -m venv $(APPS)/.venv
	$(APPS)/.venv/bin/pip install --quiet --disable-pip-version-check -r $(APPS)/requirements.txt
	touch $@

$(APPS)/node_modules/.installed: $(APPS)/package.json $(APPS)/package-lock.json | setup-services
	@$(say) "Installing JupyterHub's proxy (about 9 MB)"
	npm ci --prefix $(APPS) --no-audit --no-fund --ignore-scripts
	touch $@

$(ORACLE)/node_modules/.installed: $(ORACLE)/package.json $(ORACLE)/package-lock.json | setup-services
	@$(say) "Installing another authorization server, npm oidc-provider (about 27 MB)"
	npm ci --prefix $(ORACLE) --no-audit --no-fund --ignore-scripts
	touch $@

.PHONY: setup-libraries
setup-libraries: setup-agent $(CLIENTS)/node_modules/.installed $(CLIENTS)/.venv/.installed build-libraries

# The libraries in Rust are compiled beside the project, not in it: what they bring along is refused there (deny.toml). Clippy
# compiles the programs that use them, so that three hundred packages are not read once more for four small programs. They are
# neither fast nor debugged.
.PHONY: build-libraries
build-libraries: setup-build
	@! command -v clippy-driver >/dev/null ||
		export RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__
	cargo build --locked --quiet --manifest-path $(CLIENTS)/Cargo.toml --target-dir target/clients \
		--config profile.dev.debug=false --config 'profile.dev.package."*".opt-level=0'

.PHONY: setup-agent
setup-agent:
	@missing=()
	command -v oidc-gen >/dev/null || missing+=(oidc-agent-cli)
	$(install_missing)

$(CLIENTS)/node_modules/.installed: $(CLIENTS)/package.json $(CLIENTS)/package-lock.json | setup-services
	@$(say) "Installing client libraries written in JavaScript (about 130 MB)"
	npm ci --prefix $(CLIENTS) --no-audit --no-fund --ignore-scripts
	touch $@

$(CLIENTS)/.venv/.installed: $(CLIENTS)/requirements.txt | setup-services
	@$(say) "Installing client libraries written in Python: Authlib, allauth, mozilla-django-oidc, mcp and others (about 160 MB)"
	rm -rf $(CLIENTS)/.venv
	python3 -m venv $(CLIENTS)/.venv
	$(CLIENTS)/.venv/bin/pip install --quiet --disable-pip-version-check -r $(CLIENTS)/requirements.txt
	touch $@

# It runs for seconds, so it is not worth the minutes that optimizing it takes.
.PHONY: .tools/cargo-deny
.tools/cargo-deny:
	@mkdir -p .tools
	exec 9> .tools/cargo-deny.lock
	flock 9 # .ci/run installs it beside the lints
	command -v cargo-deny >/dev/null && exit 0
	$(say) "Installing cargo-deny into ./.tools (it is compiled here: a minute or two, once)"
	CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_LTO=off \
		cargo install cargo-deny --locked --root .tools

.PHONY: .tools/mdbook
.tools/mdbook:
	@command -v mdbook >/dev/null && exit 0
	$(say) "Installing mdBook into ./.tools (it is compiled here: a minute or two, once)"
	CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_LTO=off \
		cargo install mdbook --locked --no-default-features --features search --root .tools

include studies.mk
