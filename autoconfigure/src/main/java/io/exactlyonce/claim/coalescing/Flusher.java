package io.exactlyonce.claim.coalescing;

import io.exactlyonce.claim.ClaimStoreBusyException;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.Interrupts;
import io.exactlyonce.time.NanoClock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A queue and its flushers. Flushers are platform threads: an interrupt of a caller's virtual thread would close the
 * connection that it uses, and all of a batch with it.
 */
final class Flusher implements AutoCloseable {

    /** A batch takes a few milliseconds: an entry that waits this long calls the second flusher. */
    private static final long LONG_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private static final long CLOSING_CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final String name;
    private final CoalescingSettings terms;
    private final WaitingRoom room;
    private final ClaimQueue queue;
    private final Consumer<List<PendingCall>> store;
    private final NanoClock clock;
    private final BooleanSupplier mayFlush;
    private volatile @Nullable List<Thread> flushers;

    /**
     * @param store applies a batch, and answers each of its entries
     * @param clock monotonic, in nanoseconds
     * @param mayFlush tells whether the thread that calls may call the store itself
     */
    Flusher(
            String name,
            CoalescingSettings terms,
            Consumer<List<PendingCall>> store,
            NanoClock clock,
            BooleanSupplier mayFlush) {
        this.name = name;
        this.terms = terms;
        this.room = new WaitingRoom(terms, clock);
        this.queue = new ClaimQueue(terms, room);
        this.store = store;
        this.clock = clock;
        this.mayFlush = mayFlush;
    }

    /**
     * Sees to it that each entry is answered. Returns and throws only when no entry is on its way to the store any more:
     * each has its own answer then, or its own failure.
     *
     * @throws ClaimStoreBusyException if no entry could be asked
     */
    void ask(List<PendingCall> entries) {
        if (flushers == null) {
            start();
        }
        long deadline = clock.nanoTime() + terms.patience().toNanos();
        // Before the entries are there for others to take: this may throw.
        boolean here = queue.isQuiet() && !Thread.currentThread().isInterrupted() && mayFlush.getAsBoolean();
        queue.add(entries);
        if (here) {
            flushHere();
        } else {
            queue.call();
        }
        await(entries, deadline);
    }

    /**
     * Entries that wait in the queue leave it when time is up or, claims, when their caller is interrupted. One that is on
     * its way to the store is waited for, as if the caller called the store itself: the claim may be made already.
     */
    private void await(List<PendingCall> entries, long deadline) {
        boolean interrupted = false;
        boolean late = false;
        try {
            for (PendingCall entry : entries) {
                while (!entry.isSettled()) {
                    park(entry, late ? Long.MAX_VALUE : deadline - clock.nanoTime());
                    interrupted |= Thread.interrupted();
                    if (!late && deadline - clock.nanoTime() <= 0) {
                        late = true;
                        leave(entries, room.busy());
                    } else if (entry.isWaiting()) {
                        leaveOrHurry(entry, interrupted);
                    }
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void park(PendingCall entry, long left) {
        if (entry.isWaiting()) {
            LockSupport.parkNanos(this, Math.min(LONG_WAIT_NANOS, left));
        } else if (left < Long.MAX_VALUE) {
            LockSupport.parkNanos(this, left);
        } else {
            LockSupport.park(this);
        }
    }

    private void leaveOrHurry(PendingCall entry, boolean interrupted) {
        if (interrupted && entry.kind() == PendingCall.Kind.CLAIM) {
            leave(List.of(entry), new ClaimStoreBusyException("Interrupted while it waited to claim"));
        } else {
            queue.hurry();
        }
    }

    /** What is on its way to the store by now is not concerned. */
    private void leave(List<PendingCall> entries, RuntimeException why) {
        for (PendingCall entry : entries) {
            if (queue.withdraw(entry)) {
                entry.fail(why);
                entry.settle();
            }
        }
    }

    private synchronized void start() {
        if (flushers != null) {
            return;
        }
        List<Thread> started = new ArrayList<>();
        for (int i = 0; i < terms.flushers(); i++) {
            Thread flusher = new Thread(null, this::flush, name + (i + 1), 0, false);
            flusher.setDaemon(true);
            flusher.start();
            started.add(flusher);
        }
        flushers = started;
    }

    private void flush() {
        List<PendingCall> batch = queue.next();
        while (!batch.isEmpty()) {
            flush(batch);
            batch = queue.next();
        }
    }

    /** One batch only: what has come meanwhile is for a flusher, so that no caller works for others for long. */
    private void flushHere() {
        List<PendingCall> batch = queue.takeIfWorthwhile();
        if (!batch.isEmpty()) {
            flush(batch);
        }
        queue.handOver();
    }

    /** Whatever happens, and on whoever's stack, the batch's callers get an answer and its keys can go on. */
    private void flush(List<PendingCall> batch) {
        try {
            apply(batch);
        } catch (Throwable inTheMiddle) {
            // Not even its failure could be told, as when the stack is used up: entries without an answer say so
            // themselves.
        } finally {
            queue.returned(batch);
            batch.forEach(PendingCall::settle);
            queue.finished();
        }
    }

    /** One entry that the store can never take must not fail its neighbours: the batch is halved until it is alone. */
    private void apply(List<PendingCall> batch) {
        try {
            accept(batch);
        } catch (IllegalArgumentException poison) {
            int half = batch.size() / 2;
            if (half == 0) {
                batch.get(0).fail(new IllegalArgumentException(poison.getMessage(), poison));
            } else {
                apply(batch.subList(0, half));
                apply(batch.subList(half, batch.size()));
            }
        } catch (Throwable failure) {
            batch.forEach(entry -> entry.fail(unanswered(batch.size(), failure)));
        }
    }

    /**
     * A caller that flushes may be interrupted, and must not fail its neighbours by that. Each call of a store can be repeated:
     * it is once, without the interrupt, which is there again afterwards. Any other failure is told at once.
     */
    private void accept(List<PendingCall> batch) {
        try {
            store.accept(batch);
        } catch (RuntimeException failure) {
            if (!Interrupts.areBehind(failure)) {
                throw failure;
            }
            boolean interrupted = Thread.interrupted();
            try {
                store.accept(batch);
            } finally {
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    /** To each caller its own: callers add to what they catch. */
    private static RuntimeException unanswered(int size, Throwable failure) {
        return new ClaimStoreUnavailableException(
                "The store did not answer a batch of %d: %s".formatted(size, failure.getMessage()), failure);
    }

    /** Flushes what waits, for as long as a caller would wait for it, and refuses the rest. */
    @Override
    public void close() {
        queue.close();
        List<Thread> running = flushers;
        if (running == null) {
            return;
        }
        long deadline = clock.nanoTime() + terms.patience().toNanos();
        try {
            for (Thread flusher : running) {
                long left = TimeUnit.NANOSECONDS.toMillis(deadline - clock.nanoTime());
                flusher.join(Math.max(1, left));
            }
        } catch (InterruptedException hurried) {
            Thread.currentThread().interrupt();
        }
        queue.refuseAll();
        awaitCallers(deadline);
    }

    /** A caller's batch may still be on its way to the store, which is closed after this. */
    private void awaitCallers(long deadline) {
        while (queue.isFlushing()
                && deadline - clock.nanoTime() > 0
                && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(this, CLOSING_CHECK_NANOS);
        }
    }
}
