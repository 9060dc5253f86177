package io.exactlyonce.claim;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * A store that keeps each batch waiting until the test answers the batch. So the test decides which batches are at the
 * store.
 */
public final class GatedStore implements ClaimStore {

    private final BlockingQueue<Batch> arrived = new LinkedBlockingQueue<>();
    private final List<Object> all = new CopyOnWriteArrayList<>();
    private volatile boolean open;
    private volatile Consumer<List<?>> rule = entries -> {};

    /** A batch at the store. */
    public record Batch(List<?> entries, BlockingQueue<RuntimeException> gate) {

        private static final RuntimeException NONE = new RuntimeException("no failure");

        public void answer() {
            gate.add(NONE);
        }

        public void fail(RuntimeException failure) {
            gate.add(failure);
        }
    }

    /** Answers every batch from now on, except batches that a test has taken with {@link #next()}. */
    public void open() {
        open = true;
        for (Batch batch = arrived.poll(); batch != null; batch = arrived.poll()) {
            batch.answer();
        }
    }

    /** Sets a rule that inspects each batch before its answer, and may throw. */
    public void onBatch(Consumer<List<?>> rule) {
        this.rule = rule;
    }

    /** Returns the next batch that arrives. */
    public Batch next() throws InterruptedException {
        Batch batch = arrived.poll(10, TimeUnit.SECONDS);
        if (batch == null) {
            throw new AssertionError("No batch arrived");
        }
        return batch;
    }

    /** Returns all entries in the order of their arrival. */
    public List<Object> entries() {
        return all;
    }

    @Override
    public ClaimBatch.Result apply(ClaimBatch batch) {
        List<Object> entries = new ArrayList<>(batch.resolutions());
        entries.addAll(batch.claims());
        pass(entries);
        return new ClaimBatch.Result(
                new ClaimAnswers(
                        batch.resolutions().stream().map(ClaimResolution::claim).collect(Collectors.toSet())),
                batch.claims().stream().map(GatedStore::outcome).toList());
    }

    /**
     * Returns an outcome that only this key gets, so that a test can detect an answer that was meant for another
     * caller.
     */
    public static ClaimOutcome outcome(ClaimRequest request) {
        return new ClaimOutcome.Acquired(1, Math.abs((long) request.key().hashCode()) + 1, false);
    }

    private void pass(List<?> entries) {
        all.addAll(entries);
        if (!open) {
            Batch batch = new Batch(entries, new LinkedBlockingQueue<>());
            arrived.add(batch);
            if (open) {
                open();
            }
            RuntimeException failure = take(batch);
            if (failure != Batch.NONE) {
                throw failure;
            }
        }
        rule.accept(entries);
    }

    /** Keeps waiting when the thread is interrupted, like a driver that reads from a socket. */
    private static RuntimeException take(Batch batch) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return batch.gate().take();
                } catch (InterruptedException later) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public List<ClaimOutcome> claim(List<ClaimRequest> requests) {
        throw new AssertionError("claims come in batches");
    }

    @Override
    public ClaimAnswers resolve(List<? extends ClaimResolution> resolutions) {
        throw new AssertionError("ends come in batches");
    }

    @Override
    public ClaimAnswers renew(List<LeaseRenewal> renewals) {
        throw new AssertionError("renewals do not come here");
    }

    @Override
    public Map<ClaimKey, KeyState> peek(Collection<ClaimKey> keys) {
        throw new AssertionError("looks do not come here");
    }
}
