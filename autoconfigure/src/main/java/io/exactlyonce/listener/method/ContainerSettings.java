package io.exactlyonce.listener.method;

import io.exactlyonce.AbandonedPolicy;
import io.exactlyonce.claim.ClaimTransaction;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a container's components need to know of its listener method. Awspring does not tell a container factory for which
 * method it makes a container; but the method's handler is made meanwhile, on the same thread.
 */
public final class ContainerSettings {

    private static final ThreadLocal<@Nullable ContainerSettings> LATEST = new ThreadLocal<>();

    private volatile @Nullable Duration timeout;
    private volatile boolean batch;
    private volatile @Nullable String scope;
    private volatile @Nullable ClaimTransaction transaction;
    private volatile AbandonedPolicy onAbandoned = AbandonedPolicy.RERUN;

    /** Returns the settings of a container that is about to be made. */
    public static ContainerSettings begin() {
        ContainerSettings begun = new ContainerSettings();
        LATEST.set(begun);
        return begun;
    }

    /** Sets what the method of the container that is being made says. */
    static void complete(
            @Nullable Duration timeout,
            @Nullable String scope,
            AbandonedPolicy onAbandoned,
            boolean batch,
            @Nullable ClaimTransaction transaction) {
        ContainerSettings latest = LATEST.get();
        LATEST.remove();
        if (latest != null) {
            latest.timeout = timeout;
            latest.batch = batch;
            latest.scope = scope;
            latest.transaction = transaction;
            latest.onAbandoned = onAbandoned;
        }
    }

    /** Returns the scope of the listener's keys; {@code null} for its queue's. */
    public @Nullable String scope() {
        return scope;
    }

    /** Returns in what the handler runs together with its claim; {@code null} if its effects are elsewhere. */
    public @Nullable ClaimTransaction transaction() {
        return transaction;
    }

    /** Returns what becomes of keys in doubt. */
    public AbandonedPolicy onAbandoned() {
        return onAbandoned;
    }

    /** Returns the longest run of the handler; {@code null} for no timeout. */
    public @Nullable Duration timeout() {
        return timeout;
    }

    /** Returns whether the method takes batches. */
    public boolean isBatch() {
        return batch;
    }
}
