package io.exactlyonce.autoconfigure;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.health.actuate.endpoint.AdditionalHealthEndpointPath;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroup;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroups;
import org.springframework.boot.health.actuate.endpoint.HttpCodeStatusMapper;
import org.springframework.boot.health.actuate.endpoint.StatusAggregator;

/**
 * A group as it was configured, but for claims. It is that of the whole application, which leaves them to the groups that ask for
 * them: while their database is away, listeners pause and lose nothing, so that there is nothing that a restart would mend, and no
 * reason to take HTTP requests from the application.
 *
 * @param group as it was configured
 */
record HealthWithoutClaims(HealthEndpointGroup group) implements HealthEndpointGroup {

    /** Boot's name for the contributor of the bean {@code exactlyOnceHealthIndicator}. */
    private static final String CONTRIBUTOR = "exactlyOnce";

    static HealthEndpointGroups of(HealthEndpointGroups groups) {
        Map<String, HealthEndpointGroup> named = new LinkedHashMap<>();
        groups.getNames().forEach(name -> named.put(name, Objects.requireNonNull(groups.get(name))));
        return HealthEndpointGroups.of(new HealthWithoutClaims(groups.getPrimary()), named);
    }

    @Override
    public boolean isMember(String name) {
        return !CONTRIBUTOR.equals(name) && group.isMember(name);
    }

    @Override
    public boolean showComponents(SecurityContext security) {
        return group.showComponents(security);
    }

    @Override
    public boolean showDetails(SecurityContext security) {
        return group.showDetails(security);
    }

    @Override
    public StatusAggregator getStatusAggregator() {
        return group.getStatusAggregator();
    }

    @Override
    public HttpCodeStatusMapper getHttpCodeStatusMapper() {
        return group.getHttpCodeStatusMapper();
    }

    @Override
    public @Nullable AdditionalHealthEndpointPath getAdditionalPath() {
        return group.getAdditionalPath();
    }
}
