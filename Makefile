# `make help` lists what there is. Works with GNU make 4.3 and newer; all else comes from `make setup`.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
SHELL := /bin/sh

# cdk8s would read these and write other bytes.
unexport CDK8S_LEGACY_HASH CDK8S_DISABLE_SORT

BIN := .venv/bin
BUILD := build

# The kubectl of `install`, `uninstall`, `deploy` and `undeploy`, with options if need be: KUBECTL='kubectl --context=test'.
KUBECTL ?= kubectl

# What `synth`, `deploy` and `undeploy` write into the manifests; empty means the default of `msjob synth`. Whatever is in
# them is text: make expands nothing in it, and the shell takes it from its environment.
IMG ?=
NAMESPACE ?=
override IMG := $(value IMG)
override NAMESPACE := $(value NAMESPACE)
export IMG NAMESPACE

# What `docker-build` and `docker-push` go by (docs/image.md); text likewise.
BUILDER ?=
BUILDER_ARGS ?=
PYTHON_IMAGE ?=
SOURCE ?=
DEST ?=
override BUILDER := $(value BUILDER)
override BUILDER_ARGS := $(value BUILDER_ARGS)
override PYTHON_IMAGE := $(value PYTHON_IMAGE)
override SOURCE := $(value SOURCE)
override DEST := $(value DEST)
export BUILDER BUILDER_ARGS PYTHON_IMAGE SOURCE DEST

SYNTH_ARGS = $(if $(IMG),--image "$$IMG") $(if $(NAMESPACE),--namespace "$$NAMESPACE")

# More arguments for pytest, for `run` and for `bench`, such as PYTEST_ARGS='-k suspend'.
PYTEST_ARGS ?=
ARGS ?=

##@ Environment

.PHONY: help
help: ## Show this help
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z][a-z0-9-]*:.*## / { printf "  %-19s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## Make .venv from the lock files (needs Python 3.11 or newer; instant when nothing changed)
	@sh tools/setup.sh

.PHONY: testbed
testbed: setup ## Build the programs that the tests and the demo run on, once, outside the checkout (minutes)
	@PYTHONPATH=tests $(BIN)/python -m support.testbed build

# What `demo` shows: a file or folder with MSJobs; pods that fail once, such as 'worker-1 ps-0:137'; the seconds that a
# job may take; KEEP=1 stays up at the end. Text, too, as IMG.
SAMPLE ?=
FAIL ?=
LIMIT ?=
KEEP ?=
override SAMPLE := $(value SAMPLE)
override FAIL := $(value FAIL)
override LIMIT := $(value LIMIT)
export SAMPLE FAIL LIMIT
DEMO_ARGS = $(if $(LIMIT),--limit="$$LIMIT") $(if $(FAIL),--fail="$$FAIL") $(if $(filter-out 0 no,$(KEEP)),--keep) \
	$(if $(SAMPLE),-- "$$SAMPLE")

.PHONY: demo
demo: setup ## Live an MSJob's life on simulated nodes (SAMPLE=file FAIL=worker-1 LIMIT=seconds KEEP=1)
	@exec env PYTHONPATH=tests:tools $(BIN)/python -m demo --parent $$PPID $(DEMO_ARGS)

.PHONY: lock
lock: setup ## Write requirements/*.txt again, with hashes (UPGRADE=1 takes newer versions)
	@sh tools/lock.sh $(if $(UPGRADE),--upgrade)

.PHONY: clean
clean: ## Remove build products and caches; .venv and the control plane stay
	@rm -rf $(BUILD) htmlcov .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

.PHONY: cluster-up
cluster-up: CLUSTER_IMAGES = core
cluster-up: cluster-images ## Start a real cluster of one node, and leave it running (as root, on Debian or Ubuntu)
	@PYTHONPATH=tests:tools $(BIN)/python -m support.cluster up

.PHONY: cluster-down
cluster-down: setup ## Stop it, and remove all that it left
	@PYTHONPATH=tests:tools $(BIN)/python -m support.cluster down

##@ Manifests

.PHONY: synth
synth: setup ## Write dist/ (IMG= and NAMESPACE= set the operator's image and namespace)
	@$(BIN)/msjob synth $(SYNTH_ARGS)

.PHONY: verify
verify: setup ## Check that dist/ is what the constructs give, twice the same, and committed
	@for run in first second; do \
		$(BIN)/msjob synth >/dev/null || exit 1; \
		git diff --exit-code --stat -- dist || { echo "verify: the $$run synth changed dist/: commit what make synth writes" >&2; exit 1; }; \
		new=$$(git ls-files --others -- dist); \
		[ -z "$$new" ] || { echo "verify: not in Git:" $$new >&2; exit 1; }; \
	done

##@ Checks

.PHONY: lint
lint: setup ## Check style (ruff) and the import contracts (import-linter)
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --check --quiet
	@$(BIN)/lint-imports --no-logo

.PHONY: type
type: setup ## Check types (mypy, strict)
	@$(BIN)/mypy

.PHONY: check-lock
check-lock: setup ## Check that requirements/*.txt agree with pyproject.toml and record no address
	@sh tools/lock.sh --check

.PHONY: check-wheel
check-wheel: wheel ## Check that the wheel works in an environment that never saw this checkout
	@sh tools/check-wheel.sh

##@ Tests

.PHONY: test-unit
test-unit: setup ## Run the unit and snapshot tests
	@$(BIN)/pytest tests/unit tests/snapshot $(PYTEST_ARGS)

.PHONY: test-controlplane
test-controlplane: testbed ## Run the tests on a real control plane
	@$(BIN)/pytest tests/controlplane $(PYTEST_ARGS)

.PHONY: test-oldest
test-oldest: setup ## Run them on the oldest Kubernetes that the docs name; its programs are built once (minutes)
	@programs=$$(PYTHONPATH=tests $(BIN)/python -m support.testbed build --oldest) && \
		KUBEBUILDER_ASSETS=$$programs $(BIN)/pytest tests/controlplane $(PYTEST_ARGS)

.PHONY: test
test: testbed ## Run all of these tests
	@$(BIN)/pytest tests/unit tests/snapshot tests/controlplane $(PYTEST_ARGS)

.PHONY: test-training
test-training: setup ## Train with the CPU samples, as processes (installs MindSpore once outside the checkout, 2.7 GB)
	@PYTHONPATH=tests $(BIN)/python -m support.training
	@$(BIN)/pytest tests/training $(PYTEST_ARGS)

.PHONY: test-image
test-image: testbed ## Build the operator's image and run it on a control plane (as root, on Debian or Ubuntu)
	@sh tools/test-image.sh $(PYTEST_ARGS)

.PHONY: test-training-image
test-training-image: setup ## Build the image of samples/training and train in it (as root, on Debian or Ubuntu; 4 GB, minutes)
	@MSJOB_IMAGE_TESTS=tests/training_image sh tools/test-image.sh $(PYTEST_ARGS)

.PHONY: cluster-images
cluster-images: setup
	@PYTHONPATH=tests $(BIN)/python -m support.testbed build --node
	@sh tools/cluster-images.sh $(CLUSTER_IMAGES)

.PHONY: test-cluster
test-cluster: CLUSTER_IMAGES = core
test-cluster: cluster-images ## Train on a real cluster of one node: the core rows (as root, on Debian or Ubuntu; 12 GB, docs/cluster.md)
	@sh tools/cluster.sh $(BIN)/pytest tests/cluster -m core $(PYTEST_ARGS)

# What `test-e2e` goes by, text too: images that the nodes have or can pull, and whether the operator is there already.
OPERATOR_IMAGE ?=
TRAINING_IMAGE ?=
TRAINING_PS_IMAGE ?=
INSTALLED ?=
override OPERATOR_IMAGE := $(value OPERATOR_IMAGE)
override TRAINING_IMAGE := $(value TRAINING_IMAGE)
override TRAINING_PS_IMAGE := $(value TRAINING_PS_IMAGE)
override INSTALLED := $(value INSTALLED)
export OPERATOR_IMAGE TRAINING_IMAGE TRAINING_PS_IMAGE INSTALLED

.PHONY: test-e2e
test-e2e: export KUBECTL := $(KUBECTL)
test-e2e: setup ## Run the cluster tier on the cluster of your kubeconfig (OPERATOR_IMAGE= TRAINING_IMAGE=, docs/cluster.md)
	@rm -rf $(BUILD)/e2e
	@code=0; MSJOB_E2E=1 MSJOB_CERTIFY=$(BUILD)/e2e/report.json $(BIN)/pytest tests/cluster $(PYTEST_ARGS) || code=$$?; \
		PYTHONPATH=tests:tools $(BIN)/python -m support.cluster.e2e $(BUILD)/e2e; exit $$code

.PHONY: test-cluster-up
test-cluster-up: CLUSTER_IMAGES = core
test-cluster-up: cluster-images ## See that cluster-up and cluster-down leave nothing on this machine (as root, on Debian or Ubuntu)
	@$(BIN)/pytest tests/cluster_up $(PYTEST_ARGS)

CERTIFY := $(CURDIR)/$(BUILD)/certify

.PHONY: certify
certify: CLUSTER_IMAGES = all
certify: cluster-images ## Run every row of the cluster tier, and the oldest Kubernetes, and write docs/certification.md (an hour)
	@rm -rf $(CERTIFY)
	-@MSJOB_CERTIFY=$(CERTIFY)/cluster.json sh tools/cluster.sh $(BIN)/pytest tests/cluster
	@test -f $(CERTIFY)/cluster.json  # else no row was run
	-@$(MAKE) --no-print-directory test-oldest PYTEST_ARGS=--junitxml=$(CERTIFY)/oldest.xml
	@PYTHONPATH=tests:tools $(BIN)/python -m support.cluster.certification $(CERTIFY)/cluster.json $(CERTIFY)/oldest.xml

.PHONY: coverage
coverage: ## Run the same with branch coverage, subprocesses included, and fail below the limit
	@$(MAKE) --no-print-directory test PYTEST_ARGS="--cov --cov-report=term $(PYTEST_ARGS)"

# How long `soak` goes on, and the seed of its first round; empty means one by chance.
SECONDS ?= 600
SEED ?=

.PHONY: soak
soak: setup ## Live random lives of jobs for SECONDS= (600), from SEED= on; a violation names the seed that repeats it
	@PYTHONPATH=tests $(BIN)/python -m support.simulated.soak --seconds '$(SECONDS)' $(if $(SEED),--seed '$(SEED)')

.PHONY: mutate
mutate: setup ## Put faults into copies of the policies, and see that the simulation finds each (ARGS= for its flags)
	@$(BIN)/python tools/mutate.py $(ARGS)

.PHONY: snapshots
snapshots: setup ## Write the snapshots again; look at the diff before you commit it
	@$(BIN)/pytest tests/snapshot --snapshot-update $(PYTEST_ARGS)

.PHONY: bench
bench: testbed ## Measure speed, memory and scale of the operator against their goals (ARGS="--case NAME" for one)
	@PYTHONPATH=tests $(BIN)/python bench/run.py $(ARGS)

##@ Build and install (with KUBECTL='kubectl --context=test', in another cluster than the current one)

.PHONY: wheel
wheel: setup ## Build the wheel into build/wheel/
	@rm -rf $(BUILD)/wheel
	@$(BIN)/uv build --quiet --wheel --no-build-isolation --out-dir $(BUILD)/wheel

.PHONY: docker-build
docker-build: setup ## Build the operator's image (IMG=, BUILDER=docker|podman|buildah, PYTHON_IMAGE=: see docs/image.md)
	@$(BIN)/python tools/build_image.py build

.PHONY: docker-push
docker-push: setup ## Push the operator's image to where its name says (IMG=, BUILDER=)
	@$(BIN)/python tools/build_image.py push

.PHONY: run
run: setup ## Run the operator here, against the cluster of the current kubeconfig (ARGS= for its flags)
	@exec $(BIN)/ms-operator $(ARGS)

.PHONY: install
install: ## Install the CRD alone, which is all that `make run` needs
	@$(KUBECTL) apply -f $(wildcard dist/*crd*)

# MSJobs go first, and their pods and Services before them: the garbage collector learns of a new kind half a minute late, and
# what it does not know any more when it looks for an owner, it leaves alone for ever.
CRD := msjobs.mindspore.gitee.com
REMOVE_JOBS = if [ -n "$$($(KUBECTL) get crd $(CRD) --ignore-not-found --output=name)" ]; then \
	$(KUBECTL) delete $(CRD) --all --all-namespaces --cascade=foreground; fi

.PHONY: uninstall
uninstall: ## Remove every MSJob, and the CRD
	@$(REMOVE_JOBS)
	@$(KUBECTL) delete --ignore-not-found -f $(wildcard dist/*crd*)

# What to apply: the committed manifests, or with IMG= or NAMESPACE= set, a rendering of its own that leaves dist/ alone.
MANIFESTS = $(if $(strip $(SYNTH_ARGS)),$(BUILD)/deploy,dist)

.PHONY: deploy
deploy: manifests ## Install the operator (IMG= and NAMESPACE= set its image and namespace)
	@$(KUBECTL) apply -f $(MANIFESTS)

.PHONY: undeploy
undeploy: manifests ## Remove every MSJob, the operator and the CRD (NAMESPACE= as it was deployed with)
	@$(REMOVE_JOBS)
	@$(KUBECTL) delete --ignore-not-found -f $(MANIFESTS)

.PHONY: manifests
ifeq ($(strip $(SYNTH_ARGS)),)
manifests: ;
else
manifests: setup
	@$(BIN)/msjob synth $(SYNTH_ARGS) --output $(BUILD)/deploy
endif
