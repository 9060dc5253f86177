package io.exactlyonce.testing;

import io.awspring.cloud.sqs.listener.MessageListenerContainerRegistry;
import io.awspring.cloud.sqs.listener.SqsMessageListenerContainer;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.sql.DataSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * An application as a user would write it, with this JVM's servers. It has the starter's auto-configuration, the
 * listeners under test, and properties.
 */
public final class TestApplication implements AutoCloseable {

    private final ConfigurableApplicationContext context;
    private final DataSource database;

    private TestApplication(ConfigurableApplicationContext context, DataSource database) {
        this.context = context;
        this.database = database;
    }

    /**
     * Starts an application.
     *
     * @param databaseUrl from {@link EmbeddedDatabase#createDatabase()}
     * @param properties beyond the servers' addresses
     * @param listeners classes of beans
     */
    public static TestApplication start(String databaseUrl, Map<String, String> properties, Class<?>... listeners) {
        return start(WebApplicationType.NONE, databaseUrl, properties, listeners);
    }

    /** Starts an application with a database of its own. The property {@code test.queue} names the queue. */
    public static TestApplication on(String queue, Class<?>... listeners) {
        return on(queue, Map.of(), listeners);
    }

    /** Starts an application with a database of its own. The property {@code test.queue} names the queue. */
    public static TestApplication on(String queue, Map<String, String> properties, Class<?>... listeners) {
        Map<String, String> all = new LinkedHashMap<>(properties);
        all.put("test.queue", queue);
        return start(EmbeddedDatabase.shared().createDatabase(), all, listeners);
    }

    /**
     * Starts an application with a database of its own, and with a queue for each name. The property {@code test.NAME}
     * names the queue.
     */
    public static TestApplication onQueues(List<String> names, Map<String, String> properties, Class<?>... listeners) {
        Map<String, String> all = new LinkedHashMap<>(properties);
        names.forEach(name -> all.put("test." + name, SqsServer.shared().createQueue(3)));
        return start(EmbeddedDatabase.shared().createDatabase(), all, listeners);
    }

    /** Starts an application, with or without an HTTP server on a port of its own. */
    public static TestApplication start(
            WebApplicationType web, String databaseUrl, Map<String, String> properties, Class<?>... listeners) {
        List<Class<?>> sources = new ArrayList<>(List.of(listeners));
        sources.add(Base.class);
        ConfigurableApplicationContext context = new SpringApplicationBuilder(sources.toArray(Class<?>[]::new))
                .web(web)
                .properties(Map.of("spring.jmx.enabled", "false"))
                .run(arguments(databaseUrl, properties));
        return new TestApplication(context, EmbeddedDatabase.shared().dataSource(databaseUrl));
    }

    /** Returns the arguments that point an application to this JVM's servers, except those that the properties set. */
    public static String[] arguments(String databaseUrl, Map<String, String> properties) {
        Map<String, String> all = new LinkedHashMap<>();
        all.putAll(SqsServer.shared().properties());
        all.put("spring.cloud.aws.sqs.listener.poll-timeout", "1s");
        all.put("spring.cloud.aws.sqs.listener.max-delay-between-polls", "500ms");
        all.put("spring.datasource.url", databaseUrl);
        all.put("spring.datasource.username", EmbeddedDatabase.shared().username());
        all.put("spring.datasource.password", EmbeddedDatabase.shared().password());
        all.put("spring.main.banner-mode", "off");
        all.put("server.port", "0");
        // Tests enable JPA only if they need it, because an EntityManagerFactory takes long to create and connects at
        // once.
        all.put(
                "spring.autoconfigure.exclude",
                "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration,"
                        + "org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration");
        all.put("exactly-once.claim.initialize-schema", "always");
        all.putAll(properties);
        return all.entrySet().stream()
                .map(property -> "--" + property.getKey() + "=" + property.getValue())
                .toArray(String[]::new);
    }

    /** Returns a bean. */
    public <T> T bean(Class<T> type) {
        return context.getBean(type);
    }

    /** Returns the application's context. */
    public ConfigurableApplicationContext context() {
        return context;
    }

    /** Returns the queue that the property {@code test.NAME} names. */
    public String queue(String name) {
        return context.getEnvironment().getRequiredProperty("test." + name);
    }

    /** Sends a message and its duplicate to a queue of {@link #onQueues}, and waits until the queue is empty. */
    public void handleTwice(String name, String body) {
        SqsServer.shared().send(queue(name), body);
        SqsServer.shared().send(queue(name), body);
        SqsServer.shared().awaitEmpty(queue(name));
    }

    /** Returns access to the database. */
    public JdbcClient database() {
        return JdbcClient.create(database);
    }

    /** Returns how many claims have a status. */
    public int claims(String status) {
        return database()
                .sql("SELECT count(*) FROM exactly_once_claim WHERE status = ?")
                .param(status)
                .query(Integer.class)
                .single();
    }

    /** Returns the texts that a query finds. */
    public List<String> texts(String sql) {
        return database().sql(sql).query(String.class).list();
    }

    /** Returns the sum of a meter's counters. */
    public double count(String meter, String... tags) {
        return bean(MeterRegistry.class).get(meter).tags(tags).counters().stream()
                .mapToDouble(Counter::count)
                .sum();
    }

    /** Returns how many claims of all listeners had an outcome. */
    public double outcomes(String outcome) {
        return count("exactly.once.claims", "outcome", outcome);
    }

    /** Returns how many renewals of visibility timeouts, or of leases, had a result. */
    public double renewals(String target, String result) {
        return count("exactly.once.renewals", "target", target, "result", result);
    }

    /** Returns a gauge's value. */
    public double gauge(String meter, String... tags) {
        return bean(MeterRegistry.class).get(meter).tags(tags).gauge().value();
    }

    /** Returns a listener's container. */
    public SqsMessageListenerContainer<?> container(String listener) {
        return (SqsMessageListenerContainer<?>) Objects.requireNonNull(
                bean(MessageListenerContainerRegistry.class).getContainerById(listener));
    }

    @Override
    public void close() {
        context.close();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Base {}
}
