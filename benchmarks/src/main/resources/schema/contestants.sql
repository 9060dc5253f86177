CREATE TABLE IF NOT EXISTS effect (order_id text NOT NULL, amount bigint NOT NULL);

-- Without a unique constraint, as in the incident: with one, a duplicate would fail after its work instead.
CREATE TABLE IF NOT EXISTS processed (order_id text NOT NULL, processed_at timestamptz NOT NULL);
CREATE INDEX IF NOT EXISTS processed_order ON processed (order_id);

CREATE TABLE IF NOT EXISTS order_claim (
    order_id     text PRIMARY KEY,
    status       text NOT NULL,
    claimed_at   timestamptz NOT NULL,
    completed_at timestamptz
) WITH (fillfactor = 80);

CREATE TABLE IF NOT EXISTS inbox (
    order_id    text PRIMARY KEY,
    received_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE IF NOT EXISTS INT_METADATA_STORE (
    METADATA_KEY   varchar(255) NOT NULL,
    METADATA_VALUE varchar(4000),
    REGION         varchar(100) NOT NULL,
    PRIMARY KEY (METADATA_KEY, REGION)
);

CREATE TABLE IF NOT EXISTS shedlock (
    name       varchar(64) PRIMARY KEY,
    lock_until timestamp NOT NULL,
    locked_at  timestamp NOT NULL,
    locked_by  varchar(255) NOT NULL
) WITH (fillfactor = 80);
