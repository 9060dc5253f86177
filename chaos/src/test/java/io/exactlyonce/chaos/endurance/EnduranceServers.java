package io.exactlyonce.chaos.endurance;

import io.exactlyonce.servers.LocalPostgres;
import io.exactlyonce.servers.LocalSqs;
import java.util.Map;
import javax.sql.DataSource;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/** A PostgreSQL server that writes as durably as one in production, and an SQS server with a queue and its dead letters. */
final class EnduranceServers implements AutoCloseable {

    static final String QUEUE = "endurance";
    static final int MAX_RECEIVES = 5;
    private static final String DEAD_LETTERS = "endurance-dead";

    private final LocalPostgres postgres = LocalPostgres.start();
    private final LocalSqs sqs = LocalSqs.start();
    private final SqsClient client = LocalSqs.client(sqs.getEndpoint());

    EnduranceServers(int windowSeconds) {
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
        return postgres.dataSource();
    }

    /** Returns the properties that point an application to these servers. */
    Map<String, String> properties() {
        return Map.of(
                "spring.cloud.aws.sqs.endpoint", sqs.getEndpoint().toString(),
                "spring.cloud.aws.region.static", sqs.getRegion(),
                "spring.cloud.aws.credentials.access-key", sqs.getAccessKey(),
                "spring.cloud.aws.credentials.secret-key", sqs.getSecretKey(),
                "spring.datasource.url", postgres.getJdbcUrl(),
                "spring.datasource.username", postgres.getUsername(),
                "spring.datasource.password", postgres.getPassword(),
                "exactly-once.claim.initialize-schema", "always");
    }

    @Override
    public void close() {
        client.close();
        sqs.close();
        postgres.close();
    }
}
