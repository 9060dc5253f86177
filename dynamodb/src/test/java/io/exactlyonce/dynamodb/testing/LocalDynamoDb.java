package io.exactlyonce.dynamodb.testing;

import static org.awaitility.Awaitility.await;

import io.exactlyonce.dynamodb.table.ClaimTable;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;

/** A process with DynamoDB Local in memory. All tests of a JVM share the process, which stops with the JVM. */
public final class LocalDynamoDb {

    /** The module {@code dynamodb-local} writes this file. */
    private static final Path CLASS_PATH = Path.of("..", "dynamodb-local", "target", "classpath");

    private static final Duration START = Duration.ofSeconds(60);

    private final int port;

    /**
     * This client is never closed. Closing the last client would close the event loops of all clients, and wait two
     * seconds for them.
     */
    @SuppressWarnings("unused")
    private final DynamoDbAsyncClient keptOpen;

    private LocalDynamoDb() {
        try {
            this.port = freePort();
            start();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        await().atMost(START).until(this::answers);
        this.keptOpen = client();
        // On a busy machine, creating the first table of a server takes seconds, which is longer than a client of
        // claims waits.
        new ClaimTable(keptOpen, "warm-up").createIfMissing();
    }

    /** Returns the server of this JVM, and starts it at the first call. */
    public static LocalDynamoDb shared() {
        return Holder.SHARED;
    }

    /** Returns the address of this server. */
    public URI endpoint() {
        return URI.create("http://127.0.0.1:" + port);
    }

    /** Returns a new client of this server. */
    public DynamoDbAsyncClient client(ExecutionInterceptor... interceptors) {
        return DynamoDbAsyncClient.builder()
                .endpointOverride(endpoint())
                .region(Region.EU_WEST_1)
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("test", "test")))
                .overrideConfiguration(settings -> {
                    settings.addExecutionInterceptor(ChangedRequests.interceptor());
                    List.of(interceptors).forEach(settings::addExecutionInterceptor);
                })
                .build();
    }

    private void start() throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process process = new ProcessBuilder(
                        java,
                        "-Xmx256m",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        CLASS_PATH.resolveSibling("classes")
                                + File.pathSeparator
                                + Files.readString(CLASS_PATH).strip(),
                        "io.exactlyonce.dynamodb.local.OnLoopback",
                        String.valueOf(port))
                .redirectErrorStream(true)
                .redirectOutput(new File("target", "dynamodb-local-" + port + ".log"))
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
    }

    private boolean answers() {
        try (Socket connected = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return connected.isConnected();
        } catch (IOException notYet) {
            return false;
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 0, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private static final class Holder {
        private static final LocalDynamoDb SHARED = new LocalDynamoDb();
    }
}
