package io.exactlyonce.testing;

import io.exactlyonce.servers.LocalSqs;
import io.exactlyonce.testing.wire.AwsAnswers;
import io.exactlyonce.testing.wire.SqsBackend;
import io.exactlyonce.testing.wire.SqsOverHttp;
import io.exactlyonce.testing.wire.SqsWire;
import io.exactlyonce.testing.wire.Weather;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.awaitility.Awaitility;
import org.testcontainers.localstack.LocalStackContainer;
import org.testcontainers.utility.DockerImageName;
import software.amazon.awssdk.http.async.SdkAsyncHttpClient;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/**
 * An SQS server for tests: one for the whole JVM. {@link SqsServerKind} selects it, and the tests are the same for
 * all. Each queue has a unique name, and is deleted after its test class.
 */
public final class SqsServer {

    private static final DockerImageName IMAGE = DockerImageName.parse("localstack/localstack:4");

    /** The prefix of our queues. On a shared account it shows our queues, and rights can be granted on them alone. */
    private static final String NAME_PREFIX = "exactly-once-it-";

    /**
     * Keeps the threads that all clients of this JVM share. Without this client, closing the last client would wait 2 s
     * for the threads to end, in each application under test.
     */
    private static final SdkAsyncHttpClient STAYS_OPEN = NettyNioAsyncHttpClient.create();

    private static final int MOST_MILLIS = 20;
    private static final long SEED = Long.getLong("sqs.seed", 1);

    private final Map<String, String> properties;
    private final SqsClient client;
    private final Set<String> queues = ConcurrentHashMap.newKeySet();

    /** The URLs of queues, which tests that wait need many times. A queue that is created again has the same URL. */
    private final Map<String, String> urls = new ConcurrentHashMap<>();

    private SqsServer(Map<String, String> properties, SqsClient client) {
        this.properties = properties;
        this.client = client;
    }

    /** Returns a server object for AWS itself, with the credentials and region of the environment. */
    private static SqsServer aws() {
        return new SqsServer(Map.of(), SqsClient.create());
    }

    /** Returns a server that already runs elsewhere. Its queues are not deleted automatically. */
    public static SqsServer at(URI endpoint) {
        Map<String, String> properties = Map.of(
                "spring.cloud.aws.sqs.endpoint",
                endpoint.toString(),
                "spring.cloud.aws.region.static",
                Region.US_EAST_1.id(),
                "spring.cloud.aws.credentials.access-key",
                "x",
                "spring.cloud.aws.credentials.secret-key",
                "x");
        return new SqsServer(properties, LocalSqs.client(endpoint));
    }

    /** Returns the server of this JVM, and starts it at the first call. */
    public static SqsServer shared() {
        return Holder.SHARED;
    }

    /** Returns the properties with which an application uses this server. */
    public Map<String, String> properties() {
        return properties;
    }

    /** Deletes the queues that were created so far. */
    void deleteQueues() {
        for (String queue : queues) {
            client.deleteQueue(request -> request.queueUrl(urlOf(queue)));
            queues.remove(queue);
        }
    }

    /** Returns a client for a test's own requests. */
    public SqsClient client() {
        return client;
    }

    /** Creates a standard queue with a new name; returns its name. */
    public String createQueue(int windowSeconds) {
        String name = NAME_PREFIX + UUID.randomUUID();
        createQueue(name, windowSeconds);
        return name;
    }

    /** Creates a standard queue. */
    public void createQueue(String name, int windowSeconds) {
        create(name, Map.of(QueueAttributeName.VISIBILITY_TIMEOUT, String.valueOf(windowSeconds)));
    }

    /** Deletes a queue with all its messages. */
    public void deleteQueue(String name) {
        String url = urlOf(name);
        client.deleteQueue(request -> request.queueUrl(url));
        queues.remove(name);
    }

    /** Creates a FIFO queue without a dead-letter queue. */
    public void createFifoQueue(String name) {
        create(name, Map.of(QueueAttributeName.FIFO_QUEUE, "true", QueueAttributeName.VISIBILITY_TIMEOUT, "2"));
    }

    /** Creates a FIFO queue with a new name and a dead-letter queue of its own; returns its name. */
    public String createFifoQueue(int windowSeconds, int maxReceiveCount) {
        String name = NAME_PREFIX + UUID.randomUUID() + ".fifo";
        Map<QueueAttributeName, String> fifo = Map.of(QueueAttributeName.FIFO_QUEUE, "true");
        create(deadLettersOf(name), fifo);
        Map<QueueAttributeName, String> attributes = new HashMap<>(fifo);
        attributes.put(QueueAttributeName.VISIBILITY_TIMEOUT, String.valueOf(windowSeconds));
        attributes.put(QueueAttributeName.REDRIVE_POLICY, redrivePolicy(deadLettersOf(name), maxReceiveCount));
        return create(name, attributes);
    }

    /** Returns the name of a FIFO queue's dead-letter queue. */
    public static String deadLettersOf(String queue) {
        return queue.replace(NAME_PREFIX, NAME_PREFIX + "dead-");
    }

    private String create(String name, Map<QueueAttributeName, String> attributes) {
        client.createQueue(request -> request.queueName(name).attributes(attributes));
        queues.add(name);
        return name;
    }

    private String arnOf(String queue) {
        return client.getQueueAttributes(
                        request -> request.queueUrl(urlOf(queue)).attributeNames(QueueAttributeName.QUEUE_ARN))
                .attributes()
                .get(QueueAttributeName.QUEUE_ARN);
    }

    /** Sends a message of a group to a FIFO queue. */
    public void send(String queue, String group, String deduplicationId, String body) {
        client.sendMessage(request -> request.queueUrl(urlOf(queue))
                .messageGroupId(group)
                .messageDeduplicationId(deduplicationId)
                .messageBody(body));
    }

    /** Gives a queue a dead-letter queue for messages that reach this number of receives, and returns its name. */
    public String addDeadLetterQueue(String queue, int maxReceiveCount) {
        String deadLetters = createQueue(30);
        redrive(queue, deadLetters, maxReceiveCount);
        return deadLetters;
    }

    /**
     * Creates a standard queue whose messages move to another queue after this number of receives, and returns its
     * name.
     */
    public String createQueue(int windowSeconds, String deadLetterQueue, int maxReceiveCount) {
        // ElasticMQ moves messages only to queues that had their redrive policy from the start.
        return create(
                NAME_PREFIX + UUID.randomUUID(),
                Map.of(
                        QueueAttributeName.VISIBILITY_TIMEOUT,
                        String.valueOf(windowSeconds),
                        QueueAttributeName.REDRIVE_POLICY,
                        redrivePolicy(deadLetterQueue, maxReceiveCount)));
    }

    /** Changes the number of receives after which messages of a FIFO queue move to its dead-letter queue. */
    public void setMaxReceiveCount(String queue, int maxReceiveCount) {
        redrive(queue, deadLettersOf(queue), maxReceiveCount);
    }

    /** Sets the queue to which messages move after this number of receives. */
    public void setDeadLetterQueue(String queue, String deadLetterQueue, int maxReceiveCount) {
        redrive(queue, deadLetterQueue, maxReceiveCount);
    }

    private void redrive(String queue, String deadLetters, int maxReceiveCount) {
        String policy = redrivePolicy(deadLetters, maxReceiveCount);
        client.setQueueAttributes(request ->
                request.queueUrl(urlOf(queue)).attributes(Map.of(QueueAttributeName.REDRIVE_POLICY, policy)));
    }

    private String redrivePolicy(String deadLetters, int maxReceiveCount) {
        return "{\"deadLetterTargetArn\":\"%s\",\"maxReceiveCount\":%d}".formatted(arnOf(deadLetters), maxReceiveCount);
    }

    /** Returns a queue's URL. */
    public String urlOf(String queue) {
        return urls.computeIfAbsent(
                queue,
                name -> client.getQueueUrl(request -> request.queueName(name)).queueUrl());
    }

    /** Sends a message; returns its id. */
    public String send(String queue, String body) {
        return client.sendMessage(request -> request.queueUrl(urlOf(queue)).messageBody(body))
                .messageId();
    }

    /** Makes a message visible at once, as if its visibility timeout had ended. */
    public void expose(String queue, String receiptHandle) {
        client.changeMessageVisibility(request ->
                request.queueUrl(urlOf(queue)).receiptHandle(receiptHandle).visibilityTimeout(0));
    }

    /** Waits until a queue has no messages left, visible or not. */
    public void awaitEmpty(String queue) {
        Awaitility.await().atMost(Duration.ofSeconds(40)).until(() -> size(queue) == 0);
    }

    /** Returns how many messages a queue holds, visible or not. */
    public int size(String queue) {
        Map<QueueAttributeName, String> attributes = client.getQueueAttributes(request -> request.queueUrl(urlOf(queue))
                        .attributeNames(
                                QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES,
                                QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE))
                .attributes();
        return attributes.values().stream().mapToInt(Integer::parseInt).sum();
    }

    /** Returns how many messages of a queue are visible. */
    public int visible(String queue) {
        return Integer.parseInt(client.getQueueAttributes(request -> request.queueUrl(urlOf(queue))
                        .attributeNames(QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES))
                .attributes()
                .get(QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES));
    }

    private static SqsServer start() {
        return switch (SqsServerKind.wanted()) {
            case ELASTICMQ -> at(ElasticMq.ENDPOINT);
            case AWS_ANSWERS -> through(new AwsAnswers(elasticMq(), System::nanoTime));
            case AWS_WEATHER -> through(new Weather(new AwsAnswers(elasticMq(), System::nanoTime), MOST_MILLIS, SEED));
            case LOCALSTACK -> localStack();
            case AWS -> aws();
            case ENDPOINT -> at(SqsServerKind.endpoint());
        };
    }

    @SuppressWarnings("resource") // Ends with this JVM.
    private static SqsServer localStack() {
        LocalStackContainer container = new LocalStackContainer(IMAGE).withServices("sqs");
        container.start();
        return at(container.getEndpoint());
    }

    /** Returns ElasticMQ's server in this JVM, for a proxy in front of it. */
    public static SqsBackend elasticMq() {
        return new SqsOverHttp(ElasticMq.ENDPOINT);
    }

    /** Returns a server for one test class. The test class must delete its queues itself. */
    @SuppressWarnings("resource") // Ends with this JVM.
    public static SqsServer through(SqsBackend backend) {
        return at(new SqsWire(backend).endpoint());
    }

    private static final class ElasticMq {
        private static final URI ENDPOINT = LocalSqs.start().getEndpoint();
    }

    private static final class Holder {
        private static final SqsServer SHARED = start();
    }
}
