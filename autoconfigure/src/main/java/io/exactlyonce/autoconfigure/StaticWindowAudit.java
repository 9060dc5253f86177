package io.exactlyonce.autoconfigure;

import io.exactlyonce.delivery.DeliveryObserver;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.window.StaticWindowRule;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Warns at start-up of windows that are too short to be left alone, where nothing renews them. */
final class StaticWindowAudit implements DeliveryObserver {

    private static final Logger log = LoggerFactory.getLogger(StaticWindowAudit.class);

    @Override
    public void subscribed(Subscription subscription) {
        StaticWindowRule.violation(subscription.window(), subscription.timeout())
                .ifPresent(violation -> log.warn("{}: {}", subscription, violation));
    }
}
