package io.exactlyonce;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.beans.factory.annotation.Qualifier;

/**
 * Marks the {@code DataSource} bean through which claims are stored. Without such a bean, the library creates a pool
 * with the application's connection settings. The marked bean must connect to the primary only: startup fails if the
 * bean routes reads to a replica.
 *
 * <pre>{@code
 * @Bean(defaultCandidate = false)
 * @ExactlyOnceDataSource
 * HikariDataSource claims() { ... }
 * }</pre>
 *
 * <p>With {@code defaultCandidate = false}, other beans are still injected with the application's own DataSource. Give
 * claims their own pool: in a pool shared with slow handlers, renewals wait for connections until leases expire. The
 * library does not change the pool's settings. Startup fails if the pool has autocommit off, an isolation level other
 * than READ COMMITTED, or fewer than two connections.
 *
 * <p>If no DataSource is marked, a {@code HikariCredentialsProvider} bean can be marked instead. The library's pool
 * then reads user and password from that provider for each new connection.
 */
@Target({ElementType.FIELD, ElementType.METHOD, ElementType.PARAMETER, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Qualifier public @interface ExactlyOnceDataSource {}
