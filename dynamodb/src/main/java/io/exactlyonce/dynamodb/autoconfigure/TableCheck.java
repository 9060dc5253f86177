package io.exactlyonce.dynamodb.autoconfigure;

import io.exactlyonce.Mode;
import io.exactlyonce.dynamodb.table.ClaimTable;
import io.exactlyonce.dynamodb.table.ClaimTableException;
import io.exactlyonce.dynamodb.table.TableAudit;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;

/**
 * Makes the table if it is to be made, and looks at it, before the first container polls; or, where listeners are only observed,
 * beside the start, again and again until it can be used.
 */
final class TableCheck implements SmartInitializingSingleton, DisposableBean {

    private static final Logger LOG = LoggerFactory.getLogger(TableCheck.class);

    private static final Duration BETWEEN_CHECKS = Duration.ofSeconds(10);

    private final DynamoDbAsyncClient client;
    private final DynamoDbClaimProperties properties;
    private final Mode mode;
    private final Thread besideTheStart = new Thread(this::checkUntilItPasses, "exactly-once-observed-check");

    TableCheck(DynamoDbAsyncClient client, DynamoDbClaimProperties properties, Mode mode) {
        this.client = client;
        this.properties = properties;
        this.mode = mode;
    }

    @Override
    public void afterSingletonsInstantiated() {
        if (mode == Mode.ENFORCE) {
            check();
        } else {
            besideTheStart.setDaemon(true);
            besideTheStart.start();
        }
    }

    private void checkUntilItPasses() {
        for (boolean told = false; !passes(told); told = true) {
            try {
                TimeUnit.NANOSECONDS.sleep(BETWEEN_CHECKS.toNanos());
            } catch (InterruptedException closed) {
                return;
            }
        }
    }

    private boolean passes(boolean told) {
        try {
            check();
            return true;
        } catch (RuntimeException unusable) {
            if (!told && !Thread.currentThread().isInterrupted()) {
                LOG.warn("Listeners run unobserved until their claims can be kept: {}", unusable.getMessage());
            }
            return false;
        }
    }

    @Override
    public void destroy() {
        besideTheStart.interrupt();
    }

    private void check() {
        if (isToBeMade()) {
            make();
        }
        new TableAudit(client, properties.tableName(), properties.expectedRate()).require();
    }

    private void make() {
        try {
            new ClaimTable(client, properties.tableName()).createIfMissing();
        } catch (RuntimeException failure) {
            Throwable cause = failure.getCause() == null ? failure : failure.getCause();
            throw new ClaimTableException(
                    "table %s cannot be created: %s".formatted(properties.tableName(), cause.getMessage()),
                    "allow dynamodb:CreateTable and dynamodb:UpdateTimeToLive, or create it as docs/dynamodb.md says and set"
                            + " exactly-once.dynamodb.initialize-schema=never",
                    cause);
        }
    }

    private boolean isToBeMade() {
        return properties.initializeSchema() == DatabaseInitializationMode.ALWAYS
                || (properties.initializeSchema() == DatabaseInitializationMode.EMBEDDED
                        && client.serviceClientConfiguration()
                                .endpointOverride()
                                .map(TableCheck::isThisMachine)
                                .orElse(false));
    }

    private static boolean isThisMachine(URI endpoint) {
        try {
            return InetAddress.getByName(endpoint.getHost()).isLoopbackAddress();
        } catch (UnknownHostException elsewhere) {
            return false;
        }
    }
}
