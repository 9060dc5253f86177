package io.exactlyonce.dynamodb.autoconfigure;

import io.exactlyonce.claim.ClaimBackend;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.backend.ReadinessCheck;
import io.exactlyonce.dynamodb.DynamoDbClaims;
import io.exactlyonce.dynamodb.clock.ClockMode;
import io.exactlyonce.dynamodb.clock.ServiceClock;
import io.exactlyonce.dynamodb.table.ClaimTable;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;

/**
 * A claim table in DynamoDB, which is checked before the first container polls. A missing table is created if {@code
 * exactly-once.dynamodb.initialize-schema} permits it.
 */
final class DynamoDbClaimBackend implements ClaimBackend, AutoCloseable {

    private final DynamoDbAsyncClient client;
    private final DynamoDbClaimProperties properties;
    private final DynamoDbClaims claims;
    private final ServiceClock clock;
    private final ReadinessCheck readiness = new ReadinessCheck(() -> {}, this::check);

    DynamoDbClaimBackend(
            DynamoDbAsyncClient client, DynamoDbClaimProperties properties, DynamoDbClaims claims, ServiceClock clock) {
        this.client = client;
        this.properties = properties;
        this.claims = claims;
        this.clock = clock;
    }

    @Override
    public void beginCheck() {
        readiness.begin();
    }

    @Override
    public void requireReady() {
        readiness.require();
    }

    @Override
    public boolean isReady() {
        return readiness.hasPassed();
    }

    private void check() {
        ClaimTable table = new ClaimTable(client, properties.tableName());
        if (isToBeMade()) {
            table.createIfMissing();
        }
        table.require();
    }

    private boolean isToBeMade() {
        return switch (properties.initializeSchema()) {
            case ALWAYS -> true;
            case NEVER -> false;
            case EMBEDDED ->
                client.serviceClientConfiguration()
                        .endpointOverride()
                        .map(endpoint -> new InetSocketAddress(endpoint.getHost(), 0).getAddress())
                        .filter(InetAddress::isLoopbackAddress)
                        .isPresent();
        };
    }

    @Override
    public String description() {
        return "DynamoDB table %s in %s"
                .formatted(
                        properties.tableName(),
                        client.serviceClientConfiguration().region());
    }

    /**
     * Checks that DynamoDB answers. A missing table is a failure only after the check at startup has passed. Before
     * that, no claim uses the table.
     *
     * <p>The details contain the state of the clock that measures DynamoDB's time. A clock that cannot be measured is
     * no failure, because claims continue, and only takeovers of dead workers' keys are delayed.
     */
    @Override
    public Map<String, Object> prove() {
        try {
            claims.probe();
        } catch (ClaimStoreUnavailableException failure) {
            if (readiness.hasPassed() || !(failure.getCause() instanceof ResourceNotFoundException)) {
                throw failure;
            }
        }
        ServiceClock.State state = clock.state();
        boolean isByClock = properties.clock() == ClockMode.SERVICE && state == ServiceClock.State.MEASURED;
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("takeover", isByClock ? "by clock" : "by observation");
        details.put("clock", state.reason());
        clock.uncertaintySeconds().ifPresent(seconds -> details.put("clockUncertaintySeconds", seconds));
        return details;
    }

    @Override
    public void close() {
        readiness.close();
    }
}
