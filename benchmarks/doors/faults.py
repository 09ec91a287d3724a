def run(*a):
    pass
