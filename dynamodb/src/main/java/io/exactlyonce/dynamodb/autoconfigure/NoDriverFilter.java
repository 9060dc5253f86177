package io.exactlyonce.dynamodb.autoconfigure;

import java.sql.Driver;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanClassLoaderAware;
import org.springframework.boot.autoconfigure.AutoConfigurationImportFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;
import org.springframework.context.EnvironmentAware;
import org.springframework.core.env.Environment;

/**
 * Switches off Boot's auto-configuration of a DataSource if claims are in DynamoDB and there is no JDBC driver. Boot
 * would otherwise create a DataSource, because the starter brings a connection pool. Startup would then fail for lack
 * of a driver.
 */
final class NoDriverFilter implements AutoConfigurationImportFilter, EnvironmentAware, BeanClassLoaderAware {

    private static final String DATA_SOURCE = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration";

    private @Nullable Environment environment;
    private @Nullable ClassLoader classLoader;

    @Override
    public boolean[] match(@Nullable String[] candidates, AutoConfigurationMetadata metadata) {
        boolean isLeftOut = claimsAreInDynamoDb() && hasNoDriver();
        boolean[] matches = new boolean[candidates.length];
        for (int i = 0; i < candidates.length; i++) {
            matches[i] = !(isLeftOut && DATA_SOURCE.equals(candidates[i]));
        }
        return matches;
    }

    private boolean claimsAreInDynamoDb() {
        return environment != null
                && DynamoDbClaimsAutoConfiguration.STORE.equalsIgnoreCase(
                        environment.getProperty(DynamoDbClaimsAutoConfiguration.STORE_PROPERTY));
    }

    private boolean hasNoDriver() {
        return !ServiceLoader.load(Driver.class, classLoader).iterator().hasNext();
    }

    @Override
    public void setEnvironment(Environment environment) {
        this.environment = environment;
    }

    @Override
    public void setBeanClassLoader(ClassLoader classLoader) {
        this.classLoader = classLoader;
    }
}
