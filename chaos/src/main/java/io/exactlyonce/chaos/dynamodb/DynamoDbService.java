package io.exactlyonce.chaos.dynamodb;

import io.exactlyonce.chaos.cluster.ClaimServer;
import io.exactlyonce.chaos.cluster.ProcessGuard;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.CreateTableResponse;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;

/**
 * Claims and bookings in DynamoDB. Workers reach the service over a wire with faults. The harness itself uses no wire.
 */
public final class DynamoDbService implements ClaimServer {

    /**
     * The table of the items that handlers write in their transactions. Each call writes its own item, so that a second
     * item is detected.
     */
    public static final String BOOKINGS = "booking";

    private static final String CLAIMS = "exactly-once-claim";

    private final DynamoDbServer server;
    private final DynamoDbWire wire;
    private final DynamoDbClient client;

    private DynamoDbService(DynamoDbServer server, DynamoDbWire wire) {
        this.server = server;
        this.wire = wire;
        this.client = DynamoDbClient.builder()
                .endpointOverride(URI.create("http://127.0.0.1:" + server.port()))
                .region(Region.EU_WEST_1)
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("chaos", "chaos")))
                .build();
    }

    /** Starts the service with the table of bookings. Workers create the claim table. */
    public static DynamoDbService start(long seed, Path logs, ProcessGuard guard)
            throws IOException, InterruptedException {
        DynamoDbServer server = DynamoDbServer.start(logs.resolve("dynamodb.log"), guard);
        DynamoDbService service = new DynamoDbService(server, new DynamoDbWire(server.port(), seed));
        CreateTableResponse unused = service.client.createTable(table -> table.tableName(BOOKINGS)
                .billingMode(BillingMode.PAY_PER_REQUEST)
                .attributeDefinitions(AttributeDefinition.builder()
                        .attributeName("call")
                        .attributeType(ScalarAttributeType.S)
                        .build())
                .keySchema(KeySchemaElement.builder()
                        .attributeName("call")
                        .keyType(KeyType.HASH)
                        .build()));
        return service;
    }

    /** Starts a fault. */
    public void begin(ServiceFault fault) {
        if (fault == ServiceFault.FROZEN) {
            server.freeze();
        } else {
            wire.begin(fault);
        }
    }

    /** Ends a fault. */
    public void end(ServiceFault fault) {
        if (fault == ServiceFault.FROZEN) {
            server.thaw();
        } else {
            wire.end(fault);
        }
    }

    @Override
    public int port() {
        return wire.port();
    }

    @Override
    public int replicaPort() {
        return port();
    }

    @Override
    public List<String> workerArguments(int port, int replicaPort) {
        return List.of(
                "--spring.profiles.active=dynamodb",
                "--chaos.replica=0",
                "--spring.cloud.aws.dynamodb.endpoint=http://127.0.0.1:" + port);
    }

    @Override
    public List<ClaimLeft> claims() {
        return items(CLAIMS).stream()
                // The item that startup wrote to check its permissions is not a claim.
                .filter(item -> item.containsKey("key"))
                .map(item -> new ClaimLeft(
                        text(item, "key"),
                        text(item, "status"),
                        item.containsKey("error") ? text(item, "error") : "parked"))
                .toList();
    }

    @Override
    public List<Booking> bookings() {
        return items(BOOKINGS).stream()
                .map(item -> new Booking(text(item, "key"), text(item, "call")))
                .toList();
    }

    private static String text(Map<String, AttributeValue> item, String attribute) {
        return Objects.requireNonNull(item.get(attribute), attribute).s();
    }

    private List<Map<String, AttributeValue>> items(String table) {
        return client.scanPaginator(scan -> scan.tableName(table).consistentRead(true)).items().stream()
                .toList();
    }

    @Override
    public void close() throws IOException {
        client.close();
        wire.close();
        server.close();
    }
}
