package io.exactlyonce.test.kit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.autoconfigure.OverrideAutoConfiguration;
import org.springframework.boot.test.context.filter.annotation.TypeExcludeFilters;
import org.springframework.context.annotation.ComponentScan.Filter;
import org.springframework.core.annotation.AliasFor;
import org.springframework.test.context.BootstrapWith;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.context.junit.jupiter.SpringExtension;

/**
 * Tests {@link io.exactlyonce.ExactlyOnceListener} methods against duplicates, crashes and lost claims, in
 * milliseconds, without SQS and without a database:
 *
 * <pre>{@code
 * @ExactlyOnceTest(Orders.class)
 * class OrdersTests {
 *
 *     @Autowired ExactlyOnceDriver driver;
 *     @MockitoBean Payments payments;
 *
 *     @Test
 *     void redeliveredOrderIsChargedOnce() {
 *         Delivered first = driver.deliverPayload(new Order("A-1", 500));
 *
 *         assertThat(driver.redeliver(first)).wasSuppressed();
 *         verify(payments, times(1)).charge(any(), any());
 *     }
 * }
 * }</pre>
 *
 * <p>A slice like {@code @WebMvcTest}: only components with listener methods are found, with only the configuration
 * that they need. Provide their collaborators by {@code @MockitoBean}, {@code @Import} or a nested
 * {@code @TestConfiguration}. Settings of listeners that are not in the test are logged at WARN. For the whole application
 * see {@link AutoConfigureExactlyOnceDriver}.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@BootstrapWith(ListenerSlice.Bootstrapper.class)
@ExtendWith(SpringExtension.class)
@OverrideAutoConfiguration(enabled = false)
@TypeExcludeFilters(ListenerSlice.Components.class)
@ImportAutoConfiguration
@AutoConfigureExactlyOnceDriver
@TestPropertySource(properties = "exactly-once.unknown-properties=warn")
public @interface ExactlyOnceTest {

    /** Classes with listener methods to test. Default: all such classes of the application. */
    @AliasFor("listeners")
    Class<?>[] value() default {};

    /** Classes with listener methods to test. Default: all such classes of the application. */
    @AliasFor("value")
    Class<?>[] listeners() default {};

    /** Properties in the form {@code name=value}. */
    String[] properties() default {};

    /** Whether classes with listener methods, reconcilers and similar are found without {@link #includeFilters}. */
    boolean useDefaultFilters() default true;

    /** Filters for further components. */
    Filter[] includeFilters() default {};

    /** Filters for components to leave out. */
    Filter[] excludeFilters() default {};

    /** Auto-configurations to leave out. */
    @AliasFor(annotation = ImportAutoConfiguration.class, attribute = "exclude")
    Class<?>[] excludeAutoConfiguration() default {};
}
