package io.exactlyonce.sample.worker;

import java.net.URI;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * The queues and the provider of a worker.
 *
 * @param queue name or URL of the queue
 * @param shipments name of the queue to which each order's handler sends a shipment
 * @param worker name of this worker, which the provider's ledger shows
 * @param providerUrl address of the payment and mail services
 * @param payouts name of the queue of payouts; {@code null} to listen to none
 * @param replicaUrl JDBC URL of a replica for the naive worker's {@code SELECT}, as with a pool that splits reads from
 *     writes; {@code null} for the primary
 */
@ConfigurationProperties("orders")
record OrdersProperties(
        String queue,
        String shipments,
        String worker,
        URI providerUrl,
        @Nullable String payouts,
        @Nullable String replicaUrl) {}
