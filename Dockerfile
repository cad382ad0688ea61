# One image for web, worker, beat and the migrations: docker-compose.yml says what each runs.
# Whoever passes this image on redistributes krippendorff, which is under the GPL-3: see the README's last section.
FROM python:3.11.14-slim-bookworm

ENV PYTHONUNBUFFERED=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_ROOT_USER_ACTION=ignore

# The openai client trusts the system's certificates, which the slim image lacks.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/*

# A fixed number, so that volumes keep their owner from image to image.
RUN groupadd --gid 10001 assay \
    && useradd --uid 10001 --gid assay --create-home --shell /usr/sbin/nologin assay

WORKDIR /app

# Before the code, so that a change of code does not install anything again.
COPY requirements/base.txt requirements/base.txt
RUN pip install --no-cache-dir --require-hashes -r requirements/base.txt

# What is installed besides, by the names of further locks: --build-arg EXTRAS=embeddings.
COPY requirements/embeddings.txt requirements/embeddings.txt
ARG EXTRAS=""
RUN for extra in $EXTRAS; do pip install --no-cache-dir --require-hashes -r requirements/$extra.txt || exit 1; done

# What .dockerignore lets through.
COPY . .

ENV ASSAY_HASHED_STATIC=1 \
    STATIC_ROOT=/app/staticfiles \
    ASSAY_VAR_DIR=/var/lib/assay/var

# Neither step knows a secret: no setting of production is needed to collect files.
RUN ASSAY_VAR_DIR=/tmp/collect python manage.py collectstatic --noinput \
    && rm -rf /tmp/collect \
    && python -m compileall -q config evaluation analytics annotator judging

# A new named volume takes its owner from the folder it is mounted over.
RUN install -d -o assay -g assay -m 0700 /var/lib/assay/var /var/lib/assay/beat

USER assay
EXPOSE 8000
CMD ["python", "-m", "config.serve", "0.0.0.0:8000"]
