package io.exactlyonce.servers;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.PropertySource;

/**
 * A PostgreSQL server and an SQS server for one application, instead of the servers in its properties. Each server
 * starts when the application first connects, and stops with the application. Claim table and queues, each with a
 * dead-letter queue after 8 receives, are created on demand, unless the application's properties forbid it. Schemas
 * that {@code spring.datasource.url} names in {@code currentSchema} exist, and are used. In development:
 *
 * <pre>{@code
 * public static void main(String[] args) {
 *     SpringApplication.from(App::main).with(ExactlyOnceServers.class).run(args);
 * }
 * }</pre>
 *
 * <p>in tests: {@code @SpringBootTest @Import(ExactlyOnceServers.class)}. For one of them alone, or with other
 * settings, declare {@link LocalPostgres} or {@link LocalSqs} as a bean.
 */
@Lazy
@PropertySource("classpath:io/exactlyonce/servers/defaults.properties")
@Configuration(proxyBeanMethods = false)
public class ExactlyOnceServers {

    private static final Logger log = LoggerFactory.getLogger(ExactlyOnceServers.class);

    @Bean
    LocalPostgres localPostgres() {
        // The shutdown hook is off, because it would stop the server while the application still needs it. The
        // application stops the bean.
        LocalPostgres postgres = LocalPostgres.start(settings -> settings.setRegisterShutdownHook(false));
        log.info(
                "PostgreSQL is at {}, user {}, password in {}",
                postgres.getJdbcUrl(),
                postgres.getUsername(),
                PrivateFolder.ofThisUser().path().resolve(LocalPostgres.PASSWORD_FILE));
        return postgres;
    }

    @Bean
    LocalSqs localSqs() {
        LocalSqs sqs = LocalSqs.start();
        log.info("SQS is at {}", sqs.getEndpoint());
        return sqs;
    }

    @Bean
    static DeadLetterQueues localDeadLetterQueues() {
        return new DeadLetterQueues();
    }
}
