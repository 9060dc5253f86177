package io.exactlyonce;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.beans.factory.annotation.Qualifier;

/**
 * Marks the {@code DataSource} bean that keeps claims, in place of a pool that uses the application's connection
 * settings. It must connect to the primary only: startup fails if it routes reads to a replica.
 *
 * <pre>{@code
 * @Bean(defaultCandidate = false)
 * @ExactlyOnceDataSource
 * HikariDataSource claims() { ... }
 * }</pre>
 *
 * <p>{@code defaultCandidate = false} keeps the application's own DataSource the one that is injected elsewhere. Give
 * claims their own pool: in a pool shared with slow handlers, renewals wait for connections until leases expire. The
 * pool's settings stay unchanged. Startup fails if the pool has autocommit off, an isolation level other than READ
 * COMMITTED, or fewer than two connections.
 *
 * <p>Without such a DataSource, the annotation also marks a {@code HikariCredentialsProvider} bean. Each new connection
 * of claims then gets user and password from that provider.
 */
@Target({ElementType.FIELD, ElementType.METHOD, ElementType.PARAMETER, ElementType.TYPE, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Qualifier public @interface ExactlyOnceDataSource {}
