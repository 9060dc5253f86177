DO $$
BEGIN
    PERFORM pg_advisory_xact_lock(847);
    CREATE TABLE IF NOT EXISTS fulfilment (
        order_id     text        PRIMARY KEY,
        charge_id    text        NOT NULL,
        worker       text        NOT NULL,
        millis       bigint      NOT NULL,
        fulfilled_at timestamptz NOT NULL DEFAULT clock_timestamp()
    );
END
$$
