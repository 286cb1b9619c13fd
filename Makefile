# The front door.  CMake does the building: see CMakePresets.json.
PREFIX ?= /usr/local
BUILDS = dev tsan release clang

.NOTPARALLEL:
.PHONY: help demo test test-real lint bench install clean setup $(BUILDS)

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1	/p' Makefile

demo: release ## start the stub server, run a load of 10 s against it, show the verdict; then compare batching policies
	build/release/tailgate run scenarios/demo.yaml
	build/release/tailgate sweep scenarios/batching-policies.yaml --rates 20,80,240 --warmup 300ms --duration 1s --drain 300ms -q || test $$? -eq 4 # a busy machine

test: lint $(BUILDS) ## lint, build and run every test
	ctest --preset dev
	ctest --preset tsan
	ctest --preset release

test-real: release ## drive tailgate against other people's servers; installs npm packages below build/
	tests/real/setup
	tests/real/run

lint: build/dev/build.ninja ## clang-format, clang-tidy, cppcheck, scripts/check-source
	scripts/lint

bench: release ## measure the parts and compare with other tools
	bench/run build/release

install: release ## install to PREFIX (/usr/local), below DESTDIR if set
	DESTDIR='$(DESTDIR)' cmake --install build/release --prefix '$(PREFIX)'

clean: ## remove what was built, keep what was downloaded
	rm -rf build

setup: ## install what the build needs (the others do this themselves)
	@scripts/setup

$(BUILDS): %: build/%/build.ninja
	cmake --build --preset $@

# Configured once; from then on Ninja runs CMake again when it has to.
build/%/build.ninja: CMakePresets.json | setup
	cmake --preset $*
	@touch $@
