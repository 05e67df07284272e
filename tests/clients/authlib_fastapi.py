"""Signs users in with Authlib, in a FastAPI application. It only needs the issuer's URL."""

import os
import secrets
from urllib.parse import urlsplit

import uvicorn
from authlib.integrations.starlette_client import OAuth
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, RedirectResponse
from starlette.middleware.sessions import SessionMiddleware

ISSUER, APP_URL = os.environ["ISSUER"], os.environ["APP_URL"]
app = FastAPI()
app.add_middleware(SessionMiddleware, secret_key=secrets.token_hex())
signed_in = {}  # A real application would use a database.

oauth = OAuth()
countersign = oauth.register(
    "countersign",
    server_metadata_url=f"{ISSUER}/.well-known/openid-configuration",
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
    client_kwargs={"scope": "openid profile email offline_access", "code_challenge_method": "S256"},
)


@app.get("/login")
async def login(request: Request):
    return await countersign.authorize_redirect(request, f"{APP_URL}/callback")


@app.get("/callback")
async def callback(request: Request):
    tokens = await countersign.authorize_access_token(request)
    request.session["visit"] = secrets.token_urlsafe()
    signed_in[request.session["visit"]] = {"claims": tokens.pop("userinfo"), "tokens": tokens}
    return RedirectResponse("/")


@app.get("/userinfo")
async def userinfo(request: Request):
    return await countersign.userinfo(token=signed_in[request.session["visit"]]["tokens"])


@app.get("/refresh")
async def refresh(request: Request):
    visit = signed_in[request.session["visit"]]
    fresh = await countersign.fetch_access_token(grant_type="refresh_token", refresh_token=visit["tokens"]["refresh_token"])
    visit["tokens"] = {**visit["tokens"], **fresh}
    return RedirectResponse("/")


@app.get("/logout")
async def logout(request: Request):
    tokens = signed_in.pop(request.session.pop("visit"))["tokens"]
    target = await countersign.create_logout_url(f"{APP_URL}/", tokens["id_token"])
    return RedirectResponse(target["url"])


@app.get("/")  # For the test only. Your application should not show tokens.
async def index(request: Request):
    visit = signed_in.get(request.session.get("visit"))
    return JSONResponse(visit or {}, 200 if visit else 401)


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=urlsplit(APP_URL).port)
