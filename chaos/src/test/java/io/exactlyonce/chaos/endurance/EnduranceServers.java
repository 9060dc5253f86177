package io.exactlyonce.chaos.endurance;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.net.URI;
import java.util.Map;
import javax.sql.DataSource;
import org.elasticmq.rest.sqs.SQSRestServer;
import org.elasticmq.rest.sqs.SQSRestServerBuilder;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/** A PostgreSQL server that writes as durably as one in production, and an SQS server with a queue and its dead letters. */
final class EnduranceServers implements AutoCloseable {

    static final String QUEUE = "endurance";
    static final int MAX_RECEIVES = 5;
    private static final String DEAD_LETTERS = "endurance-dead";

    private final EmbeddedPostgres postgres;
    private final SQSRestServer sqs;
    private final URI endpoint;
    private final SqsClient client;

    EnduranceServers(int windowSeconds) throws IOException {
        postgres = EmbeddedPostgres.builder()
                .setServerConfig("fsync", "on")
                .setServerConfig("synchronous_commit", "on")
                .start();
        sqs = SQSRestServerBuilder.withInterface("127.0.0.1").withDynamicPort().start();
        endpoint = URI.create(
                "http://127.0.0.1:" + sqs.waitUntilStarted().localAddress().getPort());
        client = SqsClient.builder()
                .endpointOverride(endpoint)
                .region(Region.US_EAST_1)
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("x", "x")))
                .build();
        createQueues(windowSeconds);
    }

    private void createQueues(int windowSeconds) {
        client.createQueue(request -> request.queueName(DEAD_LETTERS));
        String target = attribute(DEAD_LETTERS, QueueAttributeName.QUEUE_ARN);
        client.createQueue(request -> request.queueName(QUEUE)
                .attributes(Map.of(
                        QueueAttributeName.VISIBILITY_TIMEOUT,
                        String.valueOf(windowSeconds),
                        QueueAttributeName.REDRIVE_POLICY,
                        "{\"deadLetterTargetArn\":\"%s\",\"maxReceiveCount\":%d}".formatted(target, MAX_RECEIVES))));
    }

    private String attribute(String queue, QueueAttributeName name) {
        return client.getQueueAttributes(
                        request -> request.queueUrl(urlOf(queue)).attributeNames(name))
                .attributes()
                .get(name);
    }

    private String urlOf(String queue) {
        return client.getQueueUrl(request -> request.queueName(queue)).queueUrl();
    }

    void send(String body) {
        client.sendMessage(request -> request.queueUrl(urlOf(QUEUE)).messageBody(body));
    }

    /** Returns how many messages the queue holds, visible or not. */
    int left() {
        return size(QUEUE);
    }

    int deadLetters() {
        return size(DEAD_LETTERS);
    }

    private int size(String queue) {
        return Integer.parseInt(attribute(queue, QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES))
                + Integer.parseInt(attribute(queue, QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE));
    }

    DataSource database() {
        return postgres.getPostgresDatabase();
    }

    /** Returns what points an application to these servers. */
    Map<String, String> properties() {
        return Map.of(
                "spring.cloud.aws.sqs.endpoint", endpoint.toString(),
                "spring.cloud.aws.region.static", "us-east-1",
                "spring.cloud.aws.credentials.access-key", "x",
                "spring.cloud.aws.credentials.secret-key", "x",
                "spring.datasource.url", "jdbc:postgresql://127.0.0.1:%d/postgres".formatted(postgres.getPort()),
                "spring.datasource.username", "postgres",
                "exactly-once.claim.initialize-schema", "always");
    }

    @Override
    public void close() throws IOException {
        client.close();
        sqs.stopAndWait();
        postgres.close();
    }
}
