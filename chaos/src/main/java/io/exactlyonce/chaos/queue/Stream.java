package io.exactlyonce.chaos.queue;

import io.exactlyonce.Effects;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.MissingKeyPolicy;
import io.exactlyonce.chaos.history.Partner;

/** A queue with its listener. The values are the listener's promise, and the partner that it calls. */
public enum Stream {
    CHARGES("charges", Effects.EXTERNAL, InDoubtPolicy.RERUN, Partner.HONOURS_KEY),
    MAILS("mails", Effects.EXTERNAL, InDoubtPolicy.RERUN, Partner.IGNORES_KEY),
    PARCELS("parcels", Effects.EXTERNAL, InDoubtPolicy.PARK, Partner.IGNORES_KEY),
    REFUNDS("refunds", Effects.EXTERNAL, InDoubtPolicy.RECONCILE, Partner.IGNORES_KEY),
    BOOKINGS("bookings", Effects.DATABASE, InDoubtPolicy.RERUN, Partner.NONE),
    /** The listener takes batches. */
    INVOICES("invoices", Effects.EXTERNAL, InDoubtPolicy.RERUN, Partner.IGNORES_KEY),
    /** The listener takes batches. */
    POSTINGS("postings", Effects.DATABASE, InDoubtPolicy.RERUN, Partner.NONE),
    /** The handler returns a future. */
    NOTICES("notices", Effects.EXTERNAL, InDoubtPolicy.RERUN, Partner.IGNORES_KEY),
    /** The handler uses {@code ExactlyOnceOperations} in a listener of Spring Cloud AWS. */
    ERRANDS("errands", Effects.EXTERNAL, InDoubtPolicy.RERUN, Partner.IGNORES_KEY),
    /** Every other worker observes this listener, and the others enforce it. */
    LETTERS("letters", Effects.EXTERNAL, InDoubtPolicy.RERUN, Partner.IGNORES_KEY),
    STEPS("steps.fifo", Effects.EXTERNAL, InDoubtPolicy.RERUN, Partner.HONOURS_KEY),
    /** The handler sends a follow-up message to {@link #SHIPMENTS}. */
    ORDERS("orders", Effects.EXTERNAL, InDoubtPolicy.RERUN, Partner.HONOURS_KEY),
    /** The handler writes a follow-up message to an outbox, from which each worker sends it. */
    SALES("sales", Effects.DATABASE, InDoubtPolicy.RERUN, Partner.NONE),
    /** Follow-up messages, which have the listener's default key. */
    SHIPMENTS("shipments", Effects.EXTERNAL, InDoubtPolicy.RERUN, Partner.HONOURS_KEY);

    private final String queue;
    private final Effects effects;
    private final InDoubtPolicy policy;
    private final Partner partner;

    Stream(String queue, Effects effects, InDoubtPolicy policy, Partner partner) {
        this.queue = queue;
        this.effects = effects;
        this.policy = policy;
        this.partner = partner;
    }

    /** Returns the queue's name, which is also the scope of its keys. */
    public String queue() {
        return queue;
    }

    /** Returns the name of the queue for messages that no handler could handle. */
    String deadLetters() {
        return "dead-" + queue;
    }

    Effects effects() {
        return effects;
    }

    InDoubtPolicy policy() {
        return policy;
    }

    Partner partner() {
        return partner;
    }

    /** Returns whether the handler sends a follow-up message for each message. */
    boolean isFollowed() {
        return this == ORDERS || this == SALES;
    }

    /** Returns how many attempts of a key may throw; 0 for any number. */
    public int maxAttempts() {
        return switch (this) {
            case CHARGES, NOTICES -> 3;
            default -> 0;
        };
    }

    /** Returns what its listener does with a message without a key. */
    public MissingKeyPolicy whenKeyMissing() {
        return switch (this) {
            case MAILS -> MissingKeyPolicy.RUN_UNPROTECTED;
            case BOOKINGS, INVOICES, STEPS -> MissingKeyPolicy.SKIP;
            default -> MissingKeyPolicy.REFUSE;
        };
    }

    /** Returns whether the queue keeps the order of each group. */
    public boolean isFifo() {
        return queue.endsWith(".fifo");
    }
}
