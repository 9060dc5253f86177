package io.exactlyonce.test.kit;

import static org.assertj.core.api.Assertions.assertThat;

import io.awspring.cloud.sqs.annotation.SnsNotificationMessage;
import io.awspring.cloud.sqs.annotation.SqsHandler;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.UnusableKeyException;
import io.exactlyonce.claim.KeyRules;
import io.exactlyonce.test.fuzz.Fuzz;
import io.exactlyonce.test.fuzz.HostileLetter;
import io.exactlyonce.test.fuzz.QuietLog;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Header;

/**
 * Tests random messages of any sender, to listeners of every kind. Each message is handled once, under its key, or
 * stays in its queue. Later messages are handled, and the log contains no text of a message.
 */
@ExactlyOnceTest
class HostileDeliveriesTests {

    private static final int MOST_IN_A_POLL = 10;

    /**
     * Spring expects content types, channels and maps in these headers. A message with other values may be unreadable.
     */
    private static final Set<String> UNREADABLE = Set.of("contentType", "replyChannel", "nativeHeaders");

    /** Listeners whose keys come from the letter. */
    private static final List<String> PLAIN =
            List.of("orders", "maps", "attributes", "notes", "groups.fifo", "batches");

    /** Listeners whose keys are computed from the message. */
    private static final List<String> ODD =
            List.of("headers", "fields", "starts", "uuids", "sums", "kinds", "quoting", "parking");

    /**
     * The permitted outcomes. If a converter or a key expression throws an error, the delivery is abandoned and the
     * message is redelivered.
     */
    private static final Set<Outcome> ENDS = Set.of(
            Outcome.HANDLED,
            Outcome.SUPPRESSED,
            Outcome.MISMATCHED,
            Outcome.RETURNED,
            Outcome.PARKED,
            Outcome.WAITING,
            Outcome.ABANDONED);

    record Order(String orderId, Object extra) {}

    record Note(String orderId) {}

    /** An exception of a handler, with a whole payload in its message. */
    static class Quoting extends RuntimeException {

        private static final long serialVersionUID = 1;

        Quoting(Order order) {
            super(order.orderId() + order.extra());
        }
    }

    static class Listeners {

        private final Queue<String> keys = new ConcurrentLinkedQueue<>();

        /** Returns the keys of calls since the previous call of this method. */
        List<String> keys() {
            List<String> all = List.copyOf(keys);
            keys.clear();
            return all;
        }

        private Order handle(Order order, Claim claim) {
            claim.ensureHeld();
            keys.add(claim.key());
            return order;
        }

        @ExactlyOnceListener(queueNames = "orders", key = "#order.orderId")
        Order orders(Order order, Claim claim) {
            return handle(order, claim);
        }

        @ExactlyOnceListener(queueNames = "maps", key = "#map['orderId']")
        Map<String, Object> maps(Map<String, Object> map, Claim claim) {
            keys.add(claim.key());
            return map;
        }

        @ExactlyOnceListener(queueNames = "attributes")
        String attributes(String body, Claim claim, @Header(name = "tenant", required = false) Object tenant) {
            keys.add(claim.key());
            return body;
        }

        @ExactlyOnceListener(queueNames = "notes", key = "#order.orderId")
        void notes(@SnsNotificationMessage Order order, Claim claim) {
            handle(order, claim);
        }

        @ExactlyOnceListener(queueNames = "groups.fifo", key = "#order.orderId")
        void groups(Order order, Claim claim) {
            handle(order, claim);
        }

        @ExactlyOnceListener(queueNames = "batches", key = "#payload.orderId")
        void batches(List<Message<Order>> orders, List<Claim> claims) {
            for (int index = 0; index < orders.size(); index++) {
                handle(orders.get(index).getPayload(), claims.get(index));
            }
        }

        @ExactlyOnceListener(queueNames = "headers", key = "#headers['tenant']")
        void headers(Order order, Claim claim, @Header(name = "tenant", required = false) Integer tenant) {
            handle(order, claim);
        }

        /** The sender decides which property is the key. */
        @ExactlyOnceListener(queueNames = "fields", key = "#order[#headers['field']]")
        void fields(Order order, Claim claim) {
            handle(order, claim);
        }

        @ExactlyOnceListener(queueNames = "starts", key = "#order.orderId.trim().substring(0, 3).toLowerCase()")
        void starts(Order order, Claim claim) {
            handle(order, claim);
        }

        @ExactlyOnceListener(queueNames = "uuids", key = "T(java.util.UUID).fromString(#order.orderId)")
        void uuids(Order order, Claim claim) {
            handle(order, claim);
        }

        @ExactlyOnceListener(queueNames = "sums", key = "#order.extra + #order.orderId")
        void sums(Order order, Claim claim) {
            handle(order, claim);
        }

        @ExactlyOnceListener(queueNames = "quoting", key = "#order.orderId")
        void quoting(Order order, Claim claim) {
            handle(order, claim);
            if (!isHarmless(order)) {
                throw new Quoting(order);
            }
        }

        @ExactlyOnceListener(queueNames = "parking", key = "#order.orderId", parkFor = Quoting.class)
        void parking(Order order, Claim claim) {
            quoting(order, claim);
        }
    }

    @ExactlyOnceListener(queueNames = "kinds", key = "#payload.orderId")
    static class Kinds {

        @SqsHandler(isDefault = true)
        void order(Order order) {}

        @SqsHandler
        void note(Note note) {}
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Listeners.class, Kinds.class})
    static class Application {}

    @Autowired
    private ExactlyOnceDriver driver;

    @Autowired
    private Listeners listeners;

    private static boolean isHarmless(Order order) {
        return order.orderId().startsWith("harmless ");
    }

    @Test
    void messageIsHandledOnceUnderItsKeyOrStaysInItsQueue() {
        fuzz(12, PLAIN, this::assertEachHasItsKey);
    }

    @Test
    void expressionsThatSendersCanLetFailCostNothingButTheirMessages() {
        fuzz(3, ODD, letters -> letters.forEach(letter -> assertHasEnded(driver.deliver(message(letter)))));
    }

    @Test
    void noMessageOfAPollTakesAnotherOneWithIt() {
        fuzz(
                12,
                PLAIN,
                letters -> polls(letters)
                        .forEach(poll -> driver.deliverTogether(poll.stream()
                                        .map(HostileDeliveriesTests::message)
                                        .toArray(TestMessage[]::new))
                                .forEach(HostileDeliveriesTests::assertHasEnded)));
    }

    private interface Check {
        void of(List<HostileLetter> letters);
    }

    private void fuzz(int seeds, List<String> queues, Check check) {
        try (QuietLog log = new QuietLog(Quoting.class)) {
            Fuzz.check(seeds, random -> HostileLetter.several(random, queues, 20), letters -> {
                driver.reset();
                listeners.keys();
                check.of(letters);
                queues.forEach(this::assertHandlesWhatComesNext);
                assertThat(log.leaks()).isEmpty();
            });
        }
    }

    private void assertHandlesWhatComesNext(String queue) {
        String order = "{\"orderId\":\"%s\"}".formatted(harmlessKey(queue));
        String body = queue.equals("notes")
                ? "{\"Type\":\"Notification\",\"Message\":\"%s\"}".formatted(order.replace("\"", "\\\""))
                : order;
        TestMessage message = TestMessage.ofBody(body)
                .to(queue)
                .group("a")
                .header("field", "orderId")
                .header("tenant", 7);
        TestMessage ofItsKind = queue.equals("kinds") ? message.header("JavaType", Order.class.getName()) : message;

        assertThat(driver.deliver(ofItsKind)).as("what comes next").wasHandled();
    }

    private static String harmlessKey(String queue) {
        return queue.equals("uuids") ? UUID.randomUUID().toString() : "harmless " + UUID.randomUUID();
    }

    private void assertEachHasItsKey(List<HostileLetter> letters) {
        Map<List<String>, String> handled = new HashMap<>();
        for (HostileLetter letter : letters) {
            Delivered delivered = driver.deliver(message(letter));
            assertHasEnded(delivered);
            if (letter.key() != null && Collections.disjoint(letter.attributes().keySet(), UNREADABLE)) {
                Optional<String> key = key(letter);
                String body = key.map(known -> handled.get(List.of(letter.queue(), known)))
                        .orElse(null);
                if (key.isEmpty()) {
                    assertThat(delivered).wasReturned().didNotReachItsHandler();
                } else if (body == null) {
                    assertThat(delivered).wasHandled();
                    assertThat(listeners.keys()).containsExactly(key.get());
                    handled.put(List.of(letter.queue(), key.get()), letter.body());
                } else {
                    assertThat(delivered)
                            .has(body.equals(letter.body()) ? Outcome.SUPPRESSED : Outcome.MISMATCHED)
                            .didNotReachItsHandler();
                }
            }
            listeners.keys().forEach(key -> handled.put(List.of(letter.queue(), key), letter.body()));
        }
    }

    /** Returns the key of a letter, or nothing if the key is unusable. Other tests check the rules for usable keys. */
    private static Optional<String> key(HostileLetter letter) {
        try {
            return Optional.of(KeyRules.toKey("The key", letter.key()));
        } catch (UnusableKeyException refused) {
            return Optional.empty();
        }
    }

    private static Collection<List<HostileLetter>> polls(List<HostileLetter> letters) {
        Map<String, List<HostileLetter>> polls = new HashMap<>();
        letters.forEach(letter -> polls.computeIfAbsent(letter.queue(), queue -> new ArrayList<>())
                .add(letter));
        return polls.values().stream()
                .flatMap(all -> IntStream.iterate(0, from -> from < all.size(), from -> from + MOST_IN_A_POLL)
                        .mapToObj(from -> all.subList(from, Math.min(all.size(), from + MOST_IN_A_POLL))))
                .toList();
    }

    private static void assertHasEnded(Delivered delivered) {
        assertThat(delivered.outcome()).as("%s", delivered).isIn(ENDS);
        assertThat(delivered.isDeleted())
                .as("%s", delivered)
                .isEqualTo(delivered.outcome() == Outcome.HANDLED || delivered.outcome() == Outcome.SUPPRESSED);
        assertThat(delivered.handlerCalls()).as("%s", delivered).isLessThanOrEqualTo(1);
    }

    private static TestMessage message(HostileLetter letter) {
        TestMessage message =
                TestMessage.ofBody(letter.body()).to(letter.queue()).group(letter.group());
        for (Map.Entry<String, Object> attribute : letter.attributes().entrySet()) {
            message = with(message, attribute.getKey(), attribute.getValue());
        }
        return message;
    }

    private static TestMessage with(TestMessage message, String name, Object value) {
        if (value instanceof byte[] bytes) {
            return message.header(name, bytes);
        }
        return value instanceof Number number ? message.header(name, number) : message.header(name, (String) value);
    }
}
