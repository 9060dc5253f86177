package io.exactlyonce.audit;

import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.Optional;

/** What has been measured of listeners' deliveries. */
@FunctionalInterface
public interface DeliveryTimes {

    /** Returns the 99th percentile from receive to confirmed delete; empty if too few were measured. */
    Optional<Duration> p99(Subscription subscription);
}
