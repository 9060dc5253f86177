package io.exactlyonce.testing.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.queue.FakeClock;
import io.exactlyonce.testing.wire.Receipts.Receipt;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ReceiptsTests {

    private static final Duration WINDOW = Duration.ofSeconds(30);

    private final Receipts receipts = new Receipts(new FakeClock());

    private void receive(String handle) {
        receipts.received("queue", "m1", handle, WINDOW);
    }

    @Test
    void acceptedChangeMakesTheMessageVisible() {
        receive("first");

        receipts.hidden("first", Duration.ZERO);

        assertThat(receipts.find("first")).get().extracting(Receipt::isHidden).isEqualTo(false);
    }

    /** The server's answers to the change and to the receive that follows it may arrive in either order. */
    @Test
    void messageStaysHiddenIfItWasReceivedBeforeTheAnswerToTheChangeArrived() {
        receive("first");
        receive("second");

        receipts.hidden("first", Duration.ZERO);

        assertThat(receipts.find("second")).get().extracting(Receipt::isHidden).isEqualTo(true);
    }
}
