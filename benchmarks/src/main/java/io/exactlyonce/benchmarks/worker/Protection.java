package io.exactlyonce.benchmarks.worker;

/** How a listener protects itself against duplicates: contestants. */
public enum Protection {
    /** Not at all. */
    PLAIN("plain listener", PlainOrders.class),
    /** Looks, works, and then writes that it has. */
    NAIVE("naive: SELECT, work, INSERT", NaiveOrders.class),
    /** What one would write by hand: safe against duplicates, but a crash in between loses the message. */
    TWO_COMMITS("claim and completion in two plain commits", TwoCommitOrders.class),
    /** The default. */
    EXTERNAL("exactly-once, EXTERNAL", ExternalOrders.class),
    /** Claim, work and completion in one transaction. */
    DATABASE("exactly-once, DATABASE", DatabaseOrders.class),
    /** Ten messages for each call. */
    BATCH("exactly-once, batches", BatchOrders.class),
    /** Ten messages for each call and each transaction. */
    DATABASE_BATCH("exactly-once, DATABASE, batches", DatabaseBatchOrders.class),

    /** What one would write by hand where the effect is a row: key and row in one transaction. */
    INBOX("hand-written inbox", InboxOrders.class),

    /** The same with ten messages for each call and each transaction. */
    INBOX_BATCH("hand-written inbox, batches", InboxBatchOrders.class),

    /** Spring Integration's idempotent receiver: a crash in between loses the message. */
    METADATA_STORE("Spring Integration, JdbcMetadataStore", MetadataStoreOrders.class),
    /** A lock of ShedLock's for each message, kept for a minute. */
    SHED_LOCK("ShedLock, one lock a message", ShedLockOrders.class),
    /** Nothing, and handlers that hold no thread. */
    HELD_PLAIN("plain listener, long window", HeldPlainOrders.class),
    /** Renews each message by a timer of its own, and handlers hold no thread. */
    HELD_TIMER("one timer per message", HeldTimerOrders.class),
    /** Renews by the extender of java-dynamic-sqs-listener, and handlers hold no thread. */
    HELD_EXTENDER("java-dynamic-sqs-listener's extender", HeldExtenderOrders.class),
    /** The default, and handlers hold no thread. */
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

    /** Returns whether it is ours, so that a duplicate or a loss is a failure of the benchmark. */
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
