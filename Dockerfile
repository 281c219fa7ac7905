# A server of one graph: the page, HTTP, MCP, Cypher, vectors, PDF. `docker compose up` reads compose.yaml; by hand:
#   docker build -t orienteer .
#   docker run --read-only --tmpfs /cache:uid=10001,mode=700 -p 127.0.0.1:8321:8321 -v "$PWD/languages:/graph:ro" \
#     -e ORIENTEER_SERVE_KEYS="$(openssl rand -hex 16)" orienteer
# Without a key it does not start: it listens on more than its own loopback.

FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml hatch_build.py requirements.lock README.md LICENSE ./
COPY src src
# The versions of the lock; its hashes would be asked of the package itself, too.
RUN python -m venv /opt/orienteer && sed -n 's/^\([^ ]*==.*\) \\$/\1/p' requirements.lock > constraints.txt && \
  /opt/orienteer/bin/pip install --no-cache-dir -c constraints.txt '.[dense,docs,serve]' && \
  /opt/orienteer/bin/pip uninstall -y pip

FROM python:3.13-slim
COPY --from=build /opt/orienteer /opt/orienteer
RUN useradd --system --uid 10001 --no-create-home orienteer && install -d -o orienteer -m 700 /cache
ENV PATH=/opt/orienteer/bin:$PATH ORIENTEER_CACHE=/cache PYTHONUNBUFFERED=1
USER 10001
EXPOSE 8321
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8321/health', timeout=4)"]
ENTRYPOINT ["orienteer"]
CMD ["serve", "/graph", "--host", "0.0.0.0"]
