package io.exactlyonce.sample.worker;

import java.net.http.HttpClient;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;

/** A client of the services that an order needs: one charges, one ships, and one sends a mail and can be slow. */
@Component
class Provider {

    private final RestClient http;

    Provider(OrdersProperties orders) {
        HttpClient client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        http = RestClient.builder()
                .requestFactory(new JdkClientHttpRequestFactory(client))
                .baseUrl(orders.providerUrl().toString())
                .defaultHeader("Worker", orders.worker())
                .build();
    }

    /**
     * Charges an order.
     *
     * @param idempotencyKey the key by which the provider recognises a repetition, or {@code null} to charge each time
     * @param inDoubt whether an earlier attempt may have charged; the lab checks that only a crash makes a repetition
     * @return the charge's id
     */
    String charge(Order order, @Nullable String idempotencyKey, boolean inDoubt) {
        ChargeReply reply = http.post()
                .uri("/charges")
                .header("In-Doubt", Boolean.toString(inDoubt))
                .headers(headers -> {
                    if (idempotencyKey != null) {
                        headers.set("Idempotency-Key", idempotencyKey);
                    }
                })
                .body(order)
                .retrieve()
                .body(ChargeReply.class);
        if (reply == null) {
            throw new IllegalStateException("The payment provider answered without a body");
        }
        return reply.chargeId();
    }

    /**
     * Has an order shipped.
     *
     * @param idempotencyKey the key by which the provider recognises a repetition, or {@code null} to ship each time
     */
    void ship(Shipment shipment, @Nullable String idempotencyKey) {
        http.post()
                .uri("/shipments")
                .headers(headers -> {
                    if (idempotencyKey != null) {
                        headers.set("Idempotency-Key", idempotencyKey);
                    }
                })
                .body(shipment)
                .retrieve()
                .toBodilessEntity();
    }

    void sendConfirmation(Order order) {
        http.post()
                .uri("/confirmations")
                .body(Map.of("orderId", order.orderId()))
                .retrieve()
                .toBodilessEntity();
    }

    record ChargeReply(String chargeId) {}
}
