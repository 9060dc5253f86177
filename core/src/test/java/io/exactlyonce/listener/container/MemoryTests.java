package io.exactlyonce.listener.container;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.delivery.DeliveryState;
import io.exactlyonce.listener.FakeReceives;
import io.exactlyonce.listener.method.ListenerRig;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchResponse;
import software.amazon.awssdk.services.sqs.model.Message;

/** Measures the memory that deliveries keep of their messages, for docs/sizing.md. */
class MemoryTests {

    private static final int DELIVERIES = 1_000;
    private static final int BODY = 60_000;

    /** Longer than SQS makes them. */
    private static final int HANDLE = 1_024;

    private static final int KEY = 512;

    static class Keyed {
        @ExactlyOnceListener(id = "listener", queueNames = "orders", key = "#order.substring(0, 512)")
        void handle(String order) {}
    }

    private final DispatcherRig rig = new DispatcherRig(new Keyed(), "orders");

    /** Twice: what the first collection finds unreachable may need a second one. */
    private static long heap() {
        System.gc();
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private static void arrive(DispatcherRig rig) {
        for (int number = 0; number < DELIVERIES; number += 10) {
            rig.handled.clear();
            rig.arrive(IntStream.range(number, number + 10)
                    .mapToObj(MemoryTests::message)
                    .toList());
        }
    }

    /** Outside Latin-1, so that each character has two bytes. */
    private static Message message(int number) {
        String unique = "\u20ac%d ".formatted(number);
        return FakeReceives.message(number + "h".repeat(HANDLE), "", 1).toBuilder()
                .body(unique + "b".repeat(BODY))
                .build();
    }

    private static long documented(String row) throws Exception {
        String page = Files.readString(Path.of("..", "docs", "sizing.md"));
        Matcher bytes = Pattern.compile("(?m)^\\| " + row + "[^|]*\\|[^|]*\\| (\\d+) KiB")
                .matcher(page);
        assertThat(bytes.find()).as(row).isTrue();
        return Long.parseLong(bytes.group(1)) << 10;
    }

    @Test
    void deliveryThatWaitsTakesAtMostWhatThePageSays() throws Exception {
        IntStream.range(0, DELIVERIES).forEach(each -> rig.store.answer(new HeldElsewhere(Duration.ofSeconds(5))));
        long before = heap();

        arrive(rig);

        assertThat(rig.received).hasSize(DELIVERIES).allMatch(delivery -> delivery.state() == DeliveryState.WAITING);
        assertThat(keys()).allMatch(key -> key.length() == KEY).doesNotHaveDuplicates();
        assertThat((heap() - before) / DELIVERIES)
                .isLessThan(documented("deliveries that wait for the owner of their key"));
    }

    private List<String> keys() {
        return rig.received.stream()
                .map(delivery -> delivery.attempt().key().key())
                .toList();
    }

    @Test
    void messageWhoseDeleteIsNotConfirmedTakesAtMostWhatThePageSays() throws Exception {
        DispatcherRig quiet =
                new DispatcherRig(ListenerRig.settings(new Keyed(), "handle"), "orders", options -> {}, false);
        quiet.sqs.answerDeletes(CompletableFuture<DeleteMessageBatchResponse>::new);
        long before = heap();

        arrive(quiet);

        assertThat(quiet.received).hasSize(DELIVERIES).allMatch(Delivery::isAcknowledged);
        assertThat((heap() - before) / DELIVERIES).isLessThan(documented("messages whose delete is not confirmed"));
    }
}
