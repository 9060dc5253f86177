package io.exactlyonce.sighting;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.InvalidKeyException;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.visibility.FakeClock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
class SightingLogTests {

    private static final ObservedQueue ORDERS = new ObservedQueue("fulfilment", "orders");
    private static final ClaimKey KEY = new ClaimKey("orders", "card-4711");

    private final FakeClock clock = new FakeClock();
    private final SightingLog log = new SightingLog(clock);

    private static int lines(CapturedOutput output) {
        return (int)
                output.getAll().lines().filter(line -> line.contains(" WARN ")).count();
    }

    @Test
    void eachKindIsSaidOnceAnHourOfEachListenerWithTheKeysHash(CapturedOutput output) {
        for (int delivery = 0; delivery < 100; delivery++) {
            log.sighted(ORDERS, KEY, Sighting.DUPLICATE);
            log.sighted(ORDERS, KEY, Sighting.OVERLAP);
            log.sighted(new ObservedQueue("fulfilment", "returns"), KEY, Sighting.OVERLAP);
            clock.advance(Duration.ofSeconds(35));
        }
        assertThat(lines(output)).isEqualTo(3);

        clock.advance(Duration.ofHours(1));
        log.sighted(ORDERS, KEY, Sighting.DUPLICATE);

        assertThat(lines(output)).isEqualTo(4);
        assertThat(output)
                .contains("The handler of listener 'fulfilment' on queue 'orders' for orders/" + KEY.shortHash()
                        + " ran although its effect had happened: it would not have been called")
                .contains("ran beside another handler of its key")
                .doesNotContain("card-4711");
    }

    @Test
    void handlerThatRanAloneIsNotSaid(CapturedOutput output) {
        log.sighted(ORDERS, KEY, Sighting.ALONE);

        assertThat(output).isEmpty();
    }

    @Test
    void databaseThatIsAwayIsSaidOnceWhateverItKeepsFromBeingObserved(CapturedOutput output) {
        log.unanswered(new IllegalStateException("connection refused"));
        for (Unobserved reason : List.of(Unobserved.STORE, Unobserved.OUTCOME)) {
            log.unobserved(ORDERS, reason, new IllegalStateException("connection refused"));
            log.unobserved(new ObservedQueue("shipping", "parcels"), reason, new IllegalStateException());
        }

        assertThat(lines(output)).isOne();
        assertThat(output).contains("The claims' database cannot be asked").contains("connection refused");
    }

    @Test
    void messageThatCannotBeObservedSaysWhy(CapturedOutput output) {
        log.unobserved(ORDERS, Unobserved.KEY, new InvalidKeyException("The key expression '#o.id' is null"));
        log.unobserved(ORDERS, Unobserved.KEY, new InvalidKeyException("another"));
        log.unobserved(ORDERS, Unobserved.OVERLOAD, null);

        assertThat(lines(output)).isEqualTo(2);
        assertThat(output)
                .contains("A message of listener 'fulfilment' on queue 'orders' has no usable key")
                .contains("The key expression '#o.id' is null")
                .contains("as many observations were under way as there may be");
    }

    @Test
    void listenerThatIsObservedSaysSo(CapturedOutput output) {
        log.observing(ORDERS);

        assertThat(output)
                .contains("Only observed: listener 'fulfilment' on queue 'orders'")
                .contains("mode=enforce");
    }
}
