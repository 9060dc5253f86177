package io.exactlyonce.autoconfigure;

import io.exactlyonce.result.ResultSerializer;
import java.lang.reflect.Type;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.exc.InvalidDefinitionException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.BasicPolymorphicTypeValidator;

/**
 * Writes and reads results as JSON, with a copy of the mapper that the application uses. The copy never lets the stored
 * text choose a class by name, even if the application's own mapper does.
 */
final class JacksonResultSerializer implements ResultSerializer {

    private final JsonMapper mapper;

    /**
     * Types that {@link #whyUnreadable} has accepted. They are remembered, because each check is expensive: for most
     * types it tries to read a value, which fails with an exception. The set stays small, because an application has
     * only a few result types.
     */
    private final Set<Type> readable = ConcurrentHashMap.newKeySet();

    JacksonResultSerializer(JsonMapper mapper) {
        this.mapper = mapper.rebuild()
                .deactivateDefaultTyping()
                .polymorphicTypeValidator(
                        BasicPolymorphicTypeValidator.builder().build())
                .build();
    }

    @Override
    public String toJson(Object result) {
        return mapper.writeValueAsString(result);
    }

    @Override
    public String toJson(Object result, Type type) {
        return mapper.writerFor(mapper.constructType(type)).writeValueAsString(result);
    }

    @Override
    public @Nullable Object fromJson(String json, Type type) {
        return mapper.readValue(json, mapper.constructType(type));
    }

    /**
     * Returns why results of a type cannot be read; {@code null} if they can. The check reads an empty JSON object as
     * the type. Most types do not fit an empty object, but only a type that cannot be read from any text fails with an
     * {@link InvalidDefinitionException}.
     */
    @Override
    public @Nullable String whyUnreadable(Type type) {
        if (readable.contains(type)) {
            return null;
        }
        try {
            fromJson("{}", type);
        } catch (InvalidDefinitionException unreadable) {
            return unreadable.getOriginalMessage();
        } catch (JacksonException unfit) {
            // The type can be read from other texts.
        }
        readable.add(type);
        return null;
    }
}
