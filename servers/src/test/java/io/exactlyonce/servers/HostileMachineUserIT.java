package io.exactlyonce.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.simple.JdbcClient;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/** Attacks on the servers by another user of the machine, or by a page in a browser. Both know the ports. */
class HostileMachineUserIT {

    private static final String QUEUE = "orders";

    private static final HttpClient BROWSER = HttpClient.newHttpClient();

    private static LocalPostgres postgres;
    private static LocalSqs sqs;
    private static SqsClient client;
    private static String queue;

    @BeforeAll
    static void start() {
        postgres = LocalPostgres.start();
        sqs = LocalSqs.start();
        client = LocalSqs.client(sqs.getEndpoint());
        queue = client.createQueue(create -> create.queueName(QUEUE)).queueUrl();
    }

    @AfterAll
    static void stop() {
        client.close();
        sqs.close();
        postgres.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "postgres", "0123456789abcdef0123456789abcdef"})
    void superuserWithoutItsPasswordIsRefused(String password) {
        assertThatThrownBy(() -> DriverManager.getConnection(postgres.getJdbcUrl(), postgres.getUsername(), password)
                        .close())
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("password");
    }

    @Test
    void everyWayIntoTheDatabaseRequiresThePassword() {
        assertThat(JdbcClient.create(postgres.dataSource())
                        .sql("SELECT DISTINCT auth_method FROM pg_hba_file_rules")
                        .query(String.class)
                        .list())
                .containsExactly("scram-sha-256");
    }

    @Test
    void databaseHasNoSocketFileAndListensOnLoopbackOnly() {
        assertThat(setting("unix_socket_directories")).isEmpty();
        assertThat(setting("listen_addresses")).isEqualTo("localhost");
    }

    /** A server can be reached at another address of this machine only if it listens on all addresses. */
    @Test
    void serversAnswerAtNoOtherAddressOfThisMachine() throws Exception {
        int database =
                URI.create(postgres.getJdbcUrl().substring("jdbc:".length())).getPort();
        List<InetAddress> others = new ArrayList<>(List.of(InetAddress.getByName("127.0.0.2")));
        NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .filter(address -> !address.isLoopbackAddress())
                .forEach(others::add);

        for (int port : List.of(database, sqs.getEndpoint().getPort())) {
            new Socket(InetAddress.getLoopbackAddress(), port).close();
            for (InetAddress other : others) {
                assertThatThrownBy(() -> new Socket(other, port).close())
                        .as("%s, port %d", other, port)
                        .isInstanceOf(ConnectException.class);
            }
        }
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void programsDataAndSecretsAreInFoldersThatOnlyTheirOwnerEnters() throws IOException {
        Path folder = PrivateFolder.ofThisUser().path();
        Path programs = Path.of(JdbcClient.create(postgres.dataSource())
                .sql("SELECT setting FROM pg_config WHERE name = 'BINDIR'")
                .query(String.class)
                .single());

        assertThat(programs).startsWithRaw(folder);
        assertThat(permissions(folder)).isEqualTo("rwx------");
        assertThat(permissions(Path.of(setting("data_directory")))).isEqualTo("rwx------");
        for (String secret : List.of("postgres-password", "postgres-verifier", "sqs-path")) {
            assertThat(permissions(folder.resolve(secret))).isEqualTo("rw-------");
        }
    }

    @Test
    void passwordAndPathAreInNoProcessesArguments() {
        assertThat(ProcessHandle.allProcesses().flatMap(process -> process.info().commandLine().stream()))
                .isNotEmpty()
                .noneMatch(line -> line.contains(postgres.getPassword()))
                .noneMatch(line -> line.contains(path()));
    }

    /** A form on any web page. A browser sends it without a preflight, and with an Origin header. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "Action=SendMessage&MessageBody=forged&QueueName=orders",
                "Action=SendMessage&MessageBody=forged&QueueUrl=http://127.0.0.1:9324/000000000000/orders",
                "Action=SendMessageBatch&SendMessageBatchRequestEntry.1.Id=a&SendMessageBatchRequestEntry.1.MessageBody=forged"
                        + "&QueueUrl=http://127.0.0.1:9324/000000000000/orders",
                "Action=ReceiveMessage&QueueUrl=http://127.0.0.1:9324/000000000000/orders",
                "Action=PurgeQueue&QueueUrl=http://127.0.0.1:9324/000000000000/orders",
                "Action=DeleteQueue&QueueUrl=http://127.0.0.1:9324/000000000000/orders",
                "Action=SetQueueAttributes&Attribute.Name=VisibilityTimeout&Attribute.Value=0"
                        + "&QueueUrl=http://127.0.0.1:9324/000000000000/orders",
                "Action=GetQueueUrl&QueueName=orders",
                "Action=ListQueues"
            })
    void formThatAWebPageSendsIsRefused(String form) throws Exception {
        for (String path : List.of("/", "/orders", "/000000000000/orders", "/queue/orders", "//", "/guess/orders")) {
            HttpResponse<String> answer = post(path, "application/x-www-form-urlencoded", form);
            assertThat(answer.statusCode()).as(path).isBetween(400, 499);
            assertThat(answer.body()).doesNotContain(path());
        }
        assertUntouched();
    }

    /**
     * A page whose name resolves to this machine (DNS rebinding) can send any request, and so can a program of another
     * user.
     */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "SendMessage",
                "ReceiveMessage",
                "PurgeQueue",
                "DeleteQueue",
                "GetQueueAttributes",
                "GetQueueUrl",
                "ListQueues"
            })
    void requestThatDoesNotKnowThePathIsRefused(String action) throws Exception {
        String body = """
                {"QueueName":"orders","QueueUrl":"http://127.0.0.1:%d/000000000000/orders","MessageBody":"forged",
                 "AttributeNames":["All"]}
                """.formatted(sqs.getEndpoint().getPort());
        for (String path : List.of("/", "/000000000000/orders", "/guess")) {
            HttpRequest request = HttpRequest.newBuilder(sqs.getEndpoint().resolve(path))
                    .header("Content-Type", "application/x-amz-json-1.0")
                    .header("X-Amz-Target", "AmazonSQS." + action)
                    .POST(BodyPublishers.ofString(body))
                    .build();
            HttpResponse<String> answer = BROWSER.send(request, BodyHandlers.ofString());
            assertThat(answer.statusCode()).as(path).isBetween(400, 499);
            assertThat(answer.body()).doesNotContain(path());
        }
        assertUntouched();
    }

    /** ElasticMQ checks the path too late. */
    @Test
    void queueIsCreatedForARequestThatDoesNotKnowThePathAndGetsNoAnswer() throws Exception {
        HttpResponse<String> answer =
                post("/", "application/x-www-form-urlencoded", "Action=CreateQueue&QueueName=forged");

        assertThat(answer.statusCode()).isEqualTo(404);
        String forged = client.getQueueUrl(found -> found.queueName("forged")).queueUrl();
        client.deleteQueue(deleted -> deleted.queueUrl(forged));
        assertUntouched();
    }

    /** The same attack with message moves, whose requests contain the names of queues. */
    @Test
    void moveOfMessagesStartsForARequestThatDoesNotKnowThePath() throws Exception {
        String dead = client.createQueue(create -> create.queueName("dead")).queueUrl();
        String account = ":000000000000:";
        String deadArn = "arn:aws:sqs:elasticmq" + account + "dead";
        String redrive = "{\"deadLetterTargetArn\":\"%s\",\"maxReceiveCount\":\"1\"}".formatted(deadArn);
        client.setQueueAttributes(
                set -> set.queueUrl(queue).attributes(Map.of(QueueAttributeName.REDRIVE_POLICY, redrive)));
        client.sendMessage(send -> send.queueUrl(dead).messageBody("dead"));

        HttpResponse<String> answer = post(
                "/",
                "application/x-www-form-urlencoded",
                "Action=StartMessageMoveTask&SourceArn=" + deadArn + "&DestinationArn=arn:aws:sqs:elasticmq" + account
                        + QUEUE);

        assertThat(answer.body()).doesNotContain(path());
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(client.receiveMessage(receive -> receive.queueUrl(queue).waitTimeSeconds(10))
                        .messages())
                .extracting(Message::body)
                .containsExactly("dead");
        client.purgeQueue(purge -> purge.queueUrl(queue));
        client.deleteQueue(delete -> delete.queueUrl(dead));
    }

    @Test
    void requestWithThePathIsAnswered() throws Exception {
        HttpResponse<String> answer =
                post(sqs.getEndpoint().getPath(), "application/x-www-form-urlencoded", "Action=ListQueues");

        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).contains(queue);
    }

    private static void assertUntouched() {
        assertThat(client.listQueues().queueUrls()).containsExactly(queue);
        assertThat(client.receiveMessage(receive -> receive.queueUrl(queue)).messages())
                .isEmpty();
    }

    private static HttpResponse<String> post(String path, String type, String body) throws Exception {
        URI to = URI.create("http://127.0.0.1:%d%s".formatted(sqs.getEndpoint().getPort(), path));
        HttpRequest request = HttpRequest.newBuilder(to)
                .header("Content-Type", type)
                .header("Origin", "https://attacker.example")
                .header("Sec-Fetch-Site", "cross-site")
                .POST(BodyPublishers.ofString(body))
                .build();
        return BROWSER.send(request, BodyHandlers.ofString());
    }

    private static String path() {
        return sqs.getEndpoint().getPath().substring(1);
    }

    private static String setting(String name) {
        return JdbcClient.create(postgres.dataSource())
                .sql("SHOW " + name)
                .query(String.class)
                .single();
    }

    private static String permissions(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }
}
