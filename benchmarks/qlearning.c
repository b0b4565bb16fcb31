/* Q-learning on a clock memory in plain C, bit for bit the same as the package's kernel.
 *
 * learn_plain   scans the row of the Q-matrix for the greedy action at every step: what one writes first;
 * learn_cached  keeps the greedy action and its value per row. The package does so as well, and beyond that reads a row
 *               before it stores into it, looks the next state up once, and explores without a branch.
 *
 * Single threshold record of at most 32 cells across the wind; schedules, records and start rules that
 * do not touch the inner loop are left out.
 */
#include <stdint.h>

typedef struct {
    const uint32_t *whiffs; /* [x][t], bit y */
    int64_t length, width, snapshots, source_x, source_y, radius_squared;
    const int32_t *next_node, *row, *first; /* [node][whiff], [node], [whiff] */
    const int32_t *cells;                   /* [n][2] */
    int64_t n_cells, horizon, rows;
    double gamma, alpha_start, alpha_end, epsilon_start, epsilon_end, decay;
} Problem;

static inline uint64_t draw(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

static inline uint32_t smell(const Problem *p, int64_t x, int64_t y, int64_t t)
{
    if ((uint64_t)x < (uint64_t)p->length && (uint64_t)y < (uint64_t)p->width)
        return (p->whiffs[x * p->snapshots + t] >> y) & 1;
    return 0;
}

static inline int64_t scan(const double *q, double *value)
{
    int64_t a = 0;
    double b = q[0];
    if (q[1] > b) { b = q[1]; a = 1; }
    if (q[2] > b) { b = q[2]; a = 2; }
    if (q[3] > b) { b = q[3]; a = 3; }
    *value = b;
    return a;
}

static inline int64_t select4(const double *q, double *value)
{
    double low = q[1] > q[0] ? q[1] : q[0], high = q[3] > q[2] ? q[3] : q[2];
    int64_t if_low = q[1] > q[0], if_high = 2 + (q[3] > q[2]), up = -(int64_t)(high > low);
    *value = high > low ? high : low;
    return if_low ^ ((if_low ^ if_high) & up);
}

static inline double fall(double start, double end, double decay, int64_t episode)
{
    double left = (decay - episode - 1) / decay;
    return end + (start - end) * (left > 0 ? left : 0);
}

#define LEARN(NAME, CACHED)                                                                            \
    int64_t NAME(const Problem *p, double *q, int64_t *best, double *top, uint64_t counter,            \
                 int64_t episodes)                                                                     \
    {                                                                                                  \
        int64_t total = 0;                                                                             \
        const double cost = -(1.0 - p->gamma);                                                         \
        if (CACHED)                                                                                    \
            for (int64_t r = 0; r < p->rows; r++) best[r] = select4(q + 4 * r, top + r);               \
        for (int64_t k = 0; k < episodes; k++) {                                                       \
            const double alpha = fall(p->alpha_start, p->alpha_end, p->decay, k);                      \
            const double epsilon = fall(p->epsilon_start, p->epsilon_end, p->decay, k);                \
            const uint64_t explore_below = (uint64_t)(epsilon * 9007199254740992.0);                   \
            uint64_t word = draw(counter += 0x9E3779B97F4A7C15ull);                                    \
            const int64_t cell = ((word >> 32) * p->n_cells) >> 32;                                    \
            int64_t x = p->cells[2 * cell], y = p->cells[2 * cell + 1];                                \
            int64_t t = ((word & 0xFFFFFFFF) * p->snapshots) >> 32;                                    \
            int64_t node = p->first[smell(p, x, y, t)], row = p->row[node];                            \
            int arrived = 0;                                                                           \
            for (int64_t steps = 0; steps < p->horizon && !arrived; steps++, total++) {                \
                word = draw(counter += 0x9E3779B97F4A7C15ull);                                         \
                double value, *now = q + 4 * row;                                                      \
                int64_t action;                                                                        \
                if ((word >> 11) < explore_below) action = word & 3;                                   \
                else action = CACHED ? best[row] : scan(now, &value);                                  \
                if (CACHED) {                                                                          \
                    x += (action == 3) - (action == 0);                                                \
                    y += (action == 1) - (action == 2);                                                \
                } else if (action == 0) x--;                                                           \
                else if (action == 1) y++;                                                             \
                else if (action == 2) y--;                                                             \
                else x++;                                                                              \
                if (++t == p->snapshots) t = 0;                                                        \
                const int64_t dx = x - p->source_x, dy = y - p->source_y;                              \
                arrived = dx * dx + dy * dy <= p->radius_squared;                                      \
                node = p->next_node[2 * node + smell(p, x, y, t)];                                     \
                const int64_t following = p->row[node];                                                \
                if (CACHED) value = top[following];                                                    \
                else scan(q + 4 * following, &value);                                                  \
                const double target = arrived ? 1.0 : cost + p->gamma * value;                         \
                now[action] = now[action] + alpha * (target - now[action]);                            \
                if (CACHED) best[row] = select4(now, top + row);                                       \
                row = following;                                                                       \
            }                                                                                          \
        }                                                                                              \
        return total;                                                                                  \
    }

LEARN(learn_plain, 0)
LEARN(learn_cached, 1)
