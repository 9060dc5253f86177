package io.exactlyonce.delivery.pipeline;

import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The moment that a stopping listener gives to handlers that it has interrupted. */
final class LastWait {

    private static final Logger log = LoggerFactory.getLogger(LastWait.class);

    private static final Duration LENGTH = Duration.ofSeconds(2);

    private LastWait() {}

    static void forAll(List<Delivery> abandoned, Subscription subscription) {
        try {
            CompletableFuture.allOf(abandoned.stream().map(Delivery::left).toArray(CompletableFuture[]::new))
                    .get(LENGTH.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException stubborn) {
            log.warn(
                    "Handlers of {} go on after they were interrupted; their claims end with their leases",
                    subscription);
        } catch (InterruptedException stopping) {
            Thread.currentThread().interrupt();
        }
    }
}
