package io.exactlyonce.chaos.run;

import io.exactlyonce.chaos.queue.Queues;
import io.exactlyonce.chaos.queue.Stream;
import io.exactlyonce.chaos.queue.TestMessage;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/** Sends messages while faults happen, and at least a minimum number. Never gets far ahead of the workers. */
final class Sender {

    static final int ROUND = 60;
    private static final int BATCH = 10;
    private static final int MOST_WAITING = 1_500;
    private static final long PAUSE_MILLIS = 100;

    private final Jobs jobs;
    private final Queues queues;
    private final int messages;
    private final BooleanSupplier calm;
    private final AtomicInteger sent = new AtomicInteger();

    Sender(Jobs jobs, Queues queues, int messages, BooleanSupplier calm) {
        this.jobs = jobs;
        this.queues = queues;
        this.messages = messages;
        this.calm = calm;
    }

    int sent() {
        return sent.get();
    }

    /**
     * Sends all messages, or as many as the time permits.
     *
     * @param millisPerRound the shortest time for a round of messages, so that messages last as long as the faults
     * @param late whether the time is over
     */
    void run(long millisPerRound, BooleanSupplier late) throws InterruptedException {
        while (!late.getAsBoolean() && (sent.get() < messages || !calm.getAsBoolean())) {
            long startNanos = System.nanoTime();
            if (queues.size() < MOST_WAITING) {
                sendRound();
                long left = millisPerRound - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
                TimeUnit.MILLISECONDS.sleep(Math.max(1, left));
            } else {
                TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
            }
        }
    }

    private void sendRound() {
        Map<Stream, List<TestMessage>> drawn = new EnumMap<>(Stream.class);
        for (int index = 0; index < ROUND; index++) {
            TestMessage message = jobs.next();
            drawn.computeIfAbsent(message.stream(), any -> new ArrayList<>()).add(message);
        }
        drawn.forEach((stream, ofStream) -> {
            for (int from = 0; from < ofStream.size(); from += BATCH) {
                List<TestMessage> batch = ofStream.subList(from, Math.min(ofStream.size(), from + BATCH));
                queues.send(stream, batch);
                sent.addAndGet(batch.size());
            }
        });
    }
}
