package io.exactlyonce.servers;

import io.awspring.cloud.autoconfigure.core.AwsConnectionDetails;
import java.net.URI;
import org.elasticmq.NodeAddress;
import org.elasticmq.rest.sqs.SQSRestServer;
import org.elasticmq.rest.sqs.SQSRestServerBuilder;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsClient;

/**
 * An SQS server in this JVM (ElasticMQ), with its queues in memory. If the server is a bean, all Spring Cloud AWS
 * clients use it, also clients of other services, whatever their properties are.
 *
 * <p>The server listens on loopback only. The path of its endpoint is a random value, which is the same for all servers
 * of this user. Other users and web pages do not know this path, so they cannot send or receive messages, or read,
 * change or delete queues. ElasticMQ still lets them create queues, and start, list and cancel message moves of queues
 * whose names they know.
 */
public final class LocalSqs implements AwsConnectionDetails, AutoCloseable {

    private static final String HOST = "127.0.0.1";
    /** Any region works, because the server ignores regions and credentials. */
    private static final Region REGION = Region.US_EAST_1;

    private static final String CREDENTIAL = "x";
    private static final String PATH_FILE = "sqs-path";

    /**
     * The name with which the server takes a queue's address from the request, because its port is unknown before it
     * starts.
     */
    private static final String OF_THE_REQUEST = "*";

    private final SQSRestServer server;
    private final URI endpoint;

    private LocalSqs(SQSRestServer server) {
        this.server = server;
        this.endpoint = endpoint(server.waitUntilStarted().localAddress().getPort());
    }

    /** Starts a server on a free port. */
    public static LocalSqs start() {
        return start(0);
    }

    /**
     * Starts a server.
     *
     * @param port the port; 0 for a free port
     */
    public static LocalSqs start(int port) {
        return new LocalSqs(SQSRestServerBuilder.withInterface(HOST)
                .withPort(port)
                .withServerAddress(new NodeAddress("http", OF_THE_REQUEST, port, path()))
                .start());
    }

    /** Returns the endpoint of a server that a JVM of this user started on a port. */
    public static URI endpoint(int port) {
        return URI.create("http://%s:%s/%s".formatted(HOST, port, path()));
    }

    private static String path() {
        return PrivateFolder.ofThisUser().secret(PATH_FILE);
    }

    /** Returns a client of such a server, which may run in another JVM. The caller must close the client. */
    public static SqsClient client(URI endpoint) {
        return SqsClient.builder()
                .endpointOverride(endpoint)
                .region(REGION)
                .credentialsProvider(
                        StaticCredentialsProvider.create(AwsBasicCredentials.create(CREDENTIAL, CREDENTIAL)))
                .build();
    }

    @Override
    public URI getEndpoint() {
        return endpoint;
    }

    @Override
    public String getRegion() {
        return REGION.id();
    }

    @Override
    public String getAccessKey() {
        return CREDENTIAL;
    }

    @Override
    public String getSecretKey() {
        return CREDENTIAL;
    }

    /** Stops the server. Its queues are lost. */
    @Override
    public void close() {
        server.stopAndWait();
    }
}
