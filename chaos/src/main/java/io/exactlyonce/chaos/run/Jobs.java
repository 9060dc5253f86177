package io.exactlyonce.chaos.run;

import io.exactlyonce.chaos.queue.Stream;
import io.exactlyonce.chaos.queue.TestMessage;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;

/**
 * Draws what is sent: for each queue jobs that work for different times, some of them longer than the window, some that
 * can never succeed, some that cannot be read, and some that are sent again.
 */
final class Jobs {

    private static final Stream[] SHARES = {
        Stream.CHARGES,
        Stream.CHARGES,
        Stream.MAILS,
        Stream.PARCELS,
        Stream.REFUNDS,
        Stream.BOOKINGS,
        Stream.BOOKINGS,
        Stream.STEPS
    };
    private static final int GROUPS = 60;
    private static final int REMEMBERED = 50;

    private final Random random;
    private final Deque<TestMessage> sent = new ArrayDeque<>();
    private final int[] positions = new int[GROUPS];
    private int number;

    Jobs(long seed) {
        this.random = new Random(seed);
    }

    TestMessage next() {
        if (sent.size() == REMEMBERED && random.nextDouble() < 0.05) {
            return sent.removeFirst();
        }
        number++;
        Stream stream = SHARES[random.nextInt(SHARES.length)];
        TestMessage message =
                stream.isFifo() ? ordered(stream) : new TestMessage(stream, key(stream), body(stream), "", 0);
        remember(message);
        return message;
    }

    private void remember(TestMessage message) {
        if (!message.stream().isFifo()) {
            sent.addLast(message);
            if (sent.size() > REMEMBERED) {
                sent.removeFirst();
            }
        }
    }

    private TestMessage ordered(Stream stream) {
        int group = random.nextInt(GROUPS);
        positions[group]++;
        return new TestMessage(
                stream, key(stream), job(stream, work() / 4, "GOOD"), "group-" + group, positions[group]);
    }

    private String body(Stream stream) {
        double chance = random.nextDouble();
        if (chance < 0.002) {
            return "{\"key\":\"%s\", and then nothing that could be read".formatted(key(stream));
        }
        return job(stream, work(), chance < 0.005 ? "POISON" : chance < 0.007 ? "HOPELESS" : "GOOD");
    }

    private static String json(String key, long work, String kind) {
        return "{\"key\":\"%s\",\"work\":%d,\"kind\":\"%s\"}".formatted(key, work, kind);
    }

    private String job(Stream stream, long work, String kind) {
        return json(key(stream), work, kind);
    }

    private String key(Stream stream) {
        return stream.queue() + "-" + number;
    }

    /** Most jobs are short; some take longer than the visibility window. */
    private long work() {
        double chance = random.nextDouble();
        if (chance < 0.80) {
            return random.nextInt(40);
        }
        return chance < 0.98 ? 100 + random.nextInt(400) : 3_000 + random.nextInt(3_000);
    }
}
