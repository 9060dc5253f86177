package io.exactlyonce.sample.http;

import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.stereotype.Component;

/** A stand-in for a real provider, which also charges once per idempotency key. */
@Component
class LocalPaymentProvider implements PaymentProvider {

    private final Map<String, String> charges = new ConcurrentHashMap<>();

    @Override
    public String charge(PaymentRequest request, String idempotencyKey) {
        return charges.computeIfAbsent(idempotencyKey, key -> "charge-" + UUID.randomUUID());
    }
}
