package io.exactlyonce.dynamodb.autoconfigure;

import io.exactlyonce.dynamodb.table.ClaimTable;
import io.exactlyonce.dynamodb.table.ClaimTableException;
import io.exactlyonce.dynamodb.table.TableAudit;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;

/** Makes the table if it is to be made, and looks at it, before the first container polls. */
final class TableCheck implements SmartInitializingSingleton {

    private final DynamoDbAsyncClient client;
    private final DynamoDbClaimProperties properties;

    TableCheck(DynamoDbAsyncClient client, DynamoDbClaimProperties properties) {
        this.client = client;
        this.properties = properties;
    }

    @Override
    public void afterSingletonsInstantiated() {
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
