package io.exactlyonce.benchmarks.worker;

/** The contestants: ways in which a listener protects itself against duplicates. */
public enum Protection {
    /** No protection. */
    PLAIN("plain listener", PlainOrders.class),
    /** Checks, works, and then records. */
    NAIVE("naive: SELECT, work, INSERT", NaiveOrders.class),
    /** A hand-written solution that prevents duplicates. A crash between the two commits loses the message. */
    TWO_COMMITS("claim and completion in two plain commits", TwoCommitOrders.class),
    /** The library's default. */
    EXTERNAL("exactly-once, EXTERNAL", ExternalOrders.class),
    /** Claim, work and completion in one transaction. */
    DATABASE("exactly-once, DATABASE", DatabaseOrders.class),
    /** Ten messages per call. */
    BATCH("exactly-once, batches", BatchOrders.class),
    /** Ten messages per call and per transaction. */
    DATABASE_BATCH("exactly-once, DATABASE, batches", DatabaseBatchOrders.class),

    /** The hand-written solution for an effect that is a row. Key and row are written in one transaction. */
    INBOX("hand-written inbox", InboxOrders.class),

    /** The same with ten messages per call and per transaction. */
    INBOX_BATCH("hand-written inbox, batches", InboxBatchOrders.class),

    /** Spring Integration's idempotent receiver. A crash between key and work loses the message. */
    METADATA_STORE("Spring Integration, JdbcMetadataStore", MetadataStoreOrders.class),
    /** A ShedLock lock for each message, kept for a minute. */
    SHED_LOCK("ShedLock, one lock a message", ShedLockOrders.class),
    /** No protection, and handlers without threads. */
    HELD_PLAIN("plain listener, long window", HeldPlainOrders.class),
    /** Renews each message with a separate timer. Handlers need no thread. */
    HELD_TIMER("one timer per message", HeldTimerOrders.class),
    /** Renews messages with the extender of java-dynamic-sqs-listener. Handlers need no thread. */
    HELD_EXTENDER("java-dynamic-sqs-listener's extender", HeldExtenderOrders.class),
    /** The library's default. Handlers need no thread. */
    HELD_EXTERNAL("exactly-once, EXTERNAL", HeldExternalOrders.class);

    private final String label;
    private final Class<?> listener;

    Protection(String label, Class<?> listener) {
        this.label = label;
        this.listener = listener;
    }

    /** Returns the name for tables. */
    public String label() {
        return label;
    }

    /** Returns whether this is our library, so that a duplicate or a loss fails the benchmark. */
    public boolean isOurs() {
        return switch (this) {
            case EXTERNAL, DATABASE, BATCH, DATABASE_BATCH, HELD_EXTERNAL -> true;
            default -> false;
        };
    }

    Class<?> listener() {
        return listener;
    }
}
