package io.exactlyonce.autoconfigure;

import io.exactlyonce.primary.ApplicationConnection;
import io.exactlyonce.primary.ApplicationConnection.Named;
import io.exactlyonce.primary.ClaimPool.Target;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;

/**
 * Takes address, user and password of the claim database from the application's primary {@code DataSource}. This bean
 * is looked up only when the first claim needs a connection, so an application without claims needs no {@code
 * DataSource}.
 */
final class ApplicationTarget implements Supplier<Target> {

    private static final String BOOT = "org.springframework.boot.jdbc.autoconfigure.";

    private static final String DETAILS = "JdbcConnectionDetails";

    private static final String ORIGIN = "each new connection reads user and password from " + DETAILS;

    private final ObjectProvider<DataSource> dataSources;
    private final ObjectProvider<JdbcConnectionDetails> details;
    private final ConfigurableListableBeanFactory beans;
    private volatile @Nullable Supplier<Target> found;

    ApplicationTarget(
            ObjectProvider<DataSource> dataSources,
            ObjectProvider<JdbcConnectionDetails> details,
            ConfigurableListableBeanFactory beans) {
        this.dataSources = dataSources;
        this.details = details;
        this.beans = beans;
    }

    @Override
    public Target get() {
        Supplier<Target> target = found;
        if (target == null) {
            target = find();
            found = target;
        }
        return target.get();
    }

    private Supplier<Target> find() {
        try {
            DataSource dataSource = dataSources.getIfUnique();
            JdbcConnectionDetails itsDetails = details.getIfUnique();
            Supplier<Target> given = itsDetails == null ? null : () -> target(itsDetails);
            if (dataSource != null) {
                return new ApplicationConnection(named(dataSource), given);
            }
            String[] names = names();
            if (names.length > 0) {
                throw ApplicationConnection.impossible(
                        "none of its DataSource beans is @Primary (%s)".formatted(String.join(", ", names)), null);
            }
            if (given != null) {
                return () -> ApplicationConnection.requirePostgresql(DETAILS, given.get());
            }
        } catch (BeansException failure) {
            throw ApplicationConnection.impossible(
                    "its DataSource cannot be created (%s)".formatted(failure.getMostSpecificCause()), failure);
        }
        throw ApplicationConnection.impossible("it has no DataSource bean", null);
    }

    private static Target target(JdbcConnectionDetails details) {
        return ApplicationConnection.ask(
                DETAILS,
                () -> new Target(DETAILS, details.getJdbcUrl(), null, null)
                        .as(details.getUsername(), details.getPassword(), ORIGIN));
    }

    private Named named(DataSource dataSource) {
        for (String name : names()) {
            if (beans.isSingleton(name) && beans.getBean(name) == dataSource) {
                String bean = "DataSource '%s'".formatted(name);
                return new Named(bean, isOfBoot(name) ? "spring.datasource.url" : "the URL of " + bean, dataSource);
            }
        }
        return new Named("its DataSource", "the URL of the application's DataSource", dataSource);
    }

    private String[] names() {
        return beans.getBeanNamesForType(DataSource.class, true, false);
    }

    private boolean isOfBoot(String name) {
        if (!beans.containsBeanDefinition(name)) {
            return false;
        }
        String factory = beans.getBeanDefinition(name).getFactoryBeanName();
        return factory != null && factory.startsWith(BOOT);
    }
}
