"""The reference workload on the engines that Python has.

`replicate FUNCTION MEMBERS` reads durations in milliseconds and failures from stdin and prints when
each rollout ended and how many members failed. `rate FUNCTION MEMBERS SECONDS` prints runs a second
by processor time, on draws of Python's own, as its users draw.
"""

import json
import math
import random
import sys
import time

STAGES = 5
WAIT = 3_600_000
MEDIAN = 2_383_000
SIGMA = 0.5
FAILS = 0.002


class Given:
    """Draws that were made elsewhere."""

    def __init__(self, durations, fails):
        self.durations, self.fails = durations, fails

    def draw(self, member):
        return self.durations[member], self.fails[member]


class Own:
    """Draws of Python's own, when they are needed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.mu = math.log(MEDIAN)

    def draw(self, _):
        duration = max(1_000, round(self.random.lognormvariate(self.mu, SIGMA)))
        return duration, self.random.random() < FAILS


def simpy_workers(members, draws):
    """As many worker processes as there are updates at once; each takes the next member."""
    import simpy

    env = simpy.Environment()
    each, at_once = members // STAGES, members // 20
    failed, failed_here, left, following = 0, 0, 0, 0

    def worker(last, done):
        nonlocal failed_here, left, following
        while following < last:
            member = following
            following += 1
            duration, fails = draws.draw(member)
            yield env.timeout(duration)
            failed_here += fails
            left -= 1
        if left == 0 and not done.triggered:
            done.succeed()

    def rollout():
        nonlocal failed, failed_here, left
        for stage in range(STAGES):
            if stage:
                yield env.timeout(WAIT)
            failed_here, left, done = 0, each, env.event()
            for _ in range(min(at_once, each)):
                env.process(worker((stage + 1) * each, done))
            yield done
            failed += failed_here
            if failed_here * 20 > each:
                return

    env.run(env.process(rollout()))
    return int(env.now), failed


def simpy_resource(members, draws):
    """A process for each update, and a resource for the updates at once, as the manual has it."""
    import simpy

    env = simpy.Environment()
    each, at_once = members // STAGES, members // 20
    failed = 0

    def update(resource, member, came):
        with resource.request() as request:
            yield request
            duration, fails = draws.draw(member)
            yield env.timeout(duration)
            came.append(fails)

    def rollout():
        nonlocal failed
        for stage in range(STAGES):
            if stage:
                yield env.timeout(WAIT)
            resource, came = simpy.Resource(env, at_once), []
            first = stage * each
            yield env.all_of(
                [env.process(update(resource, member, came)) for member in range(first, first + each)]
            )
            failed += sum(came)
            if sum(came) * 20 > each:
                return

    env.run(env.process(rollout()))
    return int(env.now), failed


def salabim_workers(members, draws):
    """As many worker components as there are updates at once; each takes the next member."""
    import salabim

    env = salabim.Environment(trace=False, yieldless=False)
    each, at_once = members // STAGES, members // 20
    failed, failed_here, left, following, end = 0, 0, 0, 0, 0

    class Worker(salabim.Component):
        def process(self, last, controller):
            nonlocal failed_here, left, following
            while following < last:
                member = following
                following += 1
                duration, fails = draws.draw(member)
                yield self.hold(duration)
                failed_here += fails
                left -= 1
                if left == 0:
                    controller.activate()

    class Rollout(salabim.Component):
        def process(self):
            nonlocal failed, failed_here, left, end
            for stage in range(STAGES):
                if stage:
                    yield self.hold(WAIT)
                failed_here, left = 0, each
                for _ in range(min(at_once, each)):
                    Worker(last=(stage + 1) * each, controller=self)
                yield self.passivate()
                failed += failed_here
                end = int(env.now())
                if failed_here * 20 > each:
                    return

    Rollout()
    env.run()
    return end, failed


FUNCTIONS = {
    "simpy-workers": simpy_workers,
    "simpy-resource": simpy_resource,
    "salabim-workers": salabim_workers,
}


def main():
    what, function, members = sys.argv[1], FUNCTIONS[sys.argv[2]], int(sys.argv[3])
    if what == "replicate":
        drawn = json.load(sys.stdin)
        print(json.dumps([function(members, Given(*replication)) for replication in drawn]))
        return
    function(100, Own(0))  # imports, and warms up
    begin, runs, enough = time.process_time(), 0, float(sys.argv[4])
    while True:
        function(members, Own(runs))
        runs += 1
        spent = time.process_time() - begin
        if spent >= enough:
            print(runs / spent)
            return


main()
