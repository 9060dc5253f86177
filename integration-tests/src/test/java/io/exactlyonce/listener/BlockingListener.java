package io.exactlyonce.listener;

import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

/** Reads the queue {@code test.queue}. The handler returns when the test permits it, or when it is interrupted. */
class BlockingListener {

    record Call(String order, int attempt, boolean inDoubt) {}

    private final List<Call> calls = new CopyOnWriteArrayList<>();
    private final CountDownLatch interrupted = new CountDownLatch(1);
    private final CountDownLatch finish = new CountDownLatch(1);

    List<Call> calls() {
        return calls;
    }

    /** Returns the order of each call. */
    List<String> orders() {
        return calls.stream().map(Call::order).toList();
    }

    boolean wasInterrupted() {
        return interrupted.getCount() == 0;
    }

    /** Lets this call and all later ones return. */
    void finish() {
        finish.countDown();
    }

    @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order")
    void handle(String order, Claim claim) throws InterruptedException {
        calls.add(new Call(order, claim.attempt(), claim.isInDoubt()));
        try {
            finish.await();
        } catch (InterruptedException stopped) {
            interrupted.countDown();
            throw stopped;
        }
    }
}
