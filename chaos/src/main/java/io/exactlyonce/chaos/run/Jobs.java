package io.exactlyonce.chaos.run;

import io.exactlyonce.MissingKeyPolicy;
import io.exactlyonce.chaos.queue.Stream;
import io.exactlyonce.chaos.queue.TestMessage;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Random;

/**
 * Draws the messages of each queue. Jobs work for different times, and some work for longer than the visibility
 * timeout. Some jobs never succeed, some cannot be read, and some are sent again.
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
        Stream.INVOICES,
        Stream.POSTINGS,
        Stream.NOTICES,
        Stream.ERRANDS,
        Stream.LETTERS,
        Stream.STEPS,
        Stream.ORDERS
    };
    /** All streams. SALES needs PostgreSQL, because its outbox is a table. */
    private static final Stream[] SHARES_WITH_OUTBOX = java.util.stream.Stream.concat(
                    Arrays.stream(SHARES), java.util.stream.Stream.of(Stream.SALES))
            .toArray(Stream[]::new);

    private static final int GROUPS = 60;
    private static final String GROUP = "group-";
    private static final int GOOD_AFTER_BAD = 10;
    private static final int REMEMBERED = 50;

    private final Random random;
    private final Stream[] shares;
    private final Deque<TestMessage> sent = new ArrayDeque<>();
    private final int[] positions = new int[GROUPS];
    private final int[] nextBad = new int[GROUPS];
    private int number;

    Jobs(long seed, boolean hasOutbox) {
        this.random = new Random(seed);
        this.shares = hasOutbox ? SHARES_WITH_OUTBOX : SHARES;
    }

    TestMessage next() {
        if (sent.size() == REMEMBERED && random.nextDouble() < 0.05) {
            return again(sent.removeFirst());
        }
        number++;
        Stream stream = shares[random.nextInt(shares.length)];
        return stream.isFifo() ? ordered(stream) : remember(new TestMessage(stream, key(stream), body(stream), "", 0));
    }

    /** Returns the same message again. In a group, its position is after all messages that were sent meanwhile. */
    private TestMessage again(TestMessage message) {
        return message.group().isEmpty()
                ? message
                : new TestMessage(
                        message.stream(),
                        message.key(),
                        message.body(),
                        message.group(),
                        ++positions[groupOf(message)]);
    }

    private TestMessage remember(TestMessage message) {
        sent.addLast(message);
        if (sent.size() > REMEMBERED) {
            sent.removeFirst();
        }
        return message;
    }

    /**
     * Returns a message of a FIFO queue. A message that ends in the dead-letter queue delays its group until then. Such
     * a message is not sent again. The next one of its kind comes at least {@value #GOOD_AFTER_BAD} messages later,
     * because the time limit for draining allows for one of them.
     */
    private TestMessage ordered(Stream stream) {
        int group = random.nextInt(GROUPS);
        int position = ++positions[group];
        boolean bad = position >= nextBad[group] && random.nextDouble() < 0.03;
        if (bad) {
            nextBad[group] = position + GOOD_AFTER_BAD;
        }
        String body = bad ? badBody(stream) : job(stream, work() / 4, goodKind(stream));
        TestMessage message = new TestMessage(stream, key(stream), body, GROUP + group, position);
        return bad ? message : remember(message);
    }

    private static int groupOf(TestMessage message) {
        return Integer.parseInt(message.group().substring(GROUP.length()));
    }

    private String badBody(Stream stream) {
        return switch (random.nextInt(4)) {
            case 0 -> unreadable(stream);
            case 1 -> job(stream, work() / 4, "HOPELESS");
            default -> job(stream, work() / 4, "POISON");
        };
    }

    private String body(Stream stream) {
        double chance = random.nextDouble();
        if (chance < 0.002) {
            return unreadable(stream);
        }
        // Only failures that exceed the limit reveal it.
        double poison = stream.maxAttempts() > 0 ? 0.013 : 0.003;
        return job(
                stream,
                work(),
                chance < 0.002 + poison ? "POISON" : chance < 0.004 + poison ? "HOPELESS" : goodKind(stream));
    }

    private String goodKind(Stream stream) {
        return stream.whenKeyMissing() != MissingKeyPolicy.REFUSE && random.nextDouble() < 0.03 ? "KEYLESS" : "GOOD";
    }

    private String unreadable(Stream stream) {
        return "{\"key\":\"%s\", and then nothing that could be read".formatted(key(stream));
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

    /** Returns the time that a job works. Most jobs are short, and some take longer than the visibility timeout. */
    private long work() {
        double chance = random.nextDouble();
        if (chance < 0.80) {
            return random.nextInt(40);
        }
        return chance < 0.98 ? 100 + random.nextInt(400) : 3_000 + random.nextInt(3_000);
    }
}
